import {expect, test} from 'vitest';
import {maskSecretText, maskSecrets} from '../../../src/cli/redaction/mask-secrets.js';
import {LINEAR_GROWTH, measureTimeGrowth} from '../../base/time-growth.js';

test.each([
  // One argument is one value.
  ['DB_PASSWORD=correct horse battery', 'DB_PASSWORD=***'],
  ['--env=DB_PASSWORD=correct horse', '--env=DB_PASSWORD=***'],
  ['COLOR=deep blue', 'COLOR=deep blue'],
  ['PASSWORD=', 'PASSWORD='],
  // A script.
  ['PGPASSWORD="hunter2" psql -c x', 'PGPASSWORD=*** psql -c x'],
  ["PGPASSWORD='hunter 2' psql", 'PGPASSWORD=*** psql'],
  ['env A=1 DB_PASSWORD="correct \\"horse\\" battery" B=2', 'env A=1 DB_PASSWORD=*** B=2'],
  ['run TOKEN=abc COLOR=blue', 'run TOKEN=*** COLOR=blue'],
  ["env 'API_KEY=two words' true", "env 'API_KEY=***' true"],
  ['run PASSWORD="never closed', 'run PASSWORD=***'],
  // JSON.
  ['{"env":["A_TOKEN=two words","B=1"]}', '{"env":["A_TOKEN=***","B=1"]}'],
  ['{"args":["run A_TOKEN=x","B=1"]}', '{"args":["run A_TOKEN=***","B=1"]}'],
  ['{"args":["A_TOKEN=\\"two words\\" run","B=1"]}', '{"args":["A_TOKEN=***","B=1"]}'],
  [
    '{"x":"{\\"env\\":[\\"A_TOKEN=two words\\",\\"B=1\\"]}"}',
    '{"x":"{\\"env\\":[\\"A_TOKEN=***\\",\\"B=1\\"]}"}',
  ],
  ['{"args":["sh -c A_TOKEN=\\"two words\\" run","B=1"]}', '{"args":["sh -c A_TOKEN=*** run","B=1"]}'],
  // Streaming URLs.
  ['http://127.0.0.1:4000/exec/abc', 'http://127.0.0.1:4000/exec/***'],
  ['//127.0.0.1:4000/exec/abc', '//127.0.0.1:4000/exec/***'],
  ['http://127.0.0.1:4000/cri/attach/abc?x=1', 'http://127.0.0.1:4000/cri/attach/***?x=1'],
  ['/cri/exec/abc', '/cri/exec/***'],
  ['/portforward/abc', '/portforward/***'],
  ['dialling http://h/exec/abc was refused', 'dialling http://h/exec/*** was refused'],
  ['/usr/lib/exec/tool', '/usr/lib/exec/tool'],
])('%j is masked as %j', (text, shown) => {
  expect(maskSecretText(text)).toBe(shown);
});

test('command output is replaced by its size, and flags for outputs are shown', () => {
  expect(maskSecrets({stdout: Buffer.from('secret').toString('base64'), exitCode: 0})).toEqual({
    stdout: '(6 bytes)',
    exitCode: 0,
  });
  expect(maskSecrets({stdout: true, stderr: ''})).toEqual({stdout: true, stderr: ''});
});

test.each([
  ['word characters', 'a'],
  ['opening quotes', 'TOKEN="'],
  ['slashes', '//a'],
  ['words of a secret', 'passwd'],
])('millions of %s are masked in linear time', (_, text) => {
  const growth = measureTimeGrowth(1_000_000, (count) => {
    expect(maskSecretText(text.repeat(count)).length).toBeLessThan(70_000);
  });
  expect(growth).toBeLessThan(LINEAR_GROWTH);
});
