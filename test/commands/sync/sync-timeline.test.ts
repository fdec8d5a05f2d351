import {expect, test} from 'vitest';
import {aContainerSpec, aManifest, createTestbed} from '../command-testbed.js';
import {interruptAt} from '../interrupt-watch.js';

// Proves: sync --timeline
test.each([
  ['a pod', [], /^default\/web {2}kcri$/m],
  ['a removed pod', ['--rm'], /^default\/web {2}kcri {2}deleted$/m],
])('sync --timeline prints the phases of %s to standard error', async (_what, flags, title) => {
  const testbed = await createTestbed();
  const {stdout, stderr, exitCode} = await testbed.run(['sync', '-', '--timeline', ...flags], {
    stdin: aManifest({}),
  });
  expect(exitCode).toBe(0);
  expect(stdout).not.toContain('slowest');
  for (const line of [title, /^ {2}sandbox {2,}\S+ +\d+ms$/m, /^ {2}start main {2,}\S+ +\d+ms$/m])
    expect(stderr).toMatch(line);
});

test('sync --timeline prints nothing for a pod for which nothing was done', async () => {
  const testbed = await createTestbed();
  await testbed.run(['sync', '-'], {stdin: aManifest({})});
  const {stderr} = await testbed.run(['sync', '-', '--timeline'], {stdin: aManifest({})});
  expect(stderr).not.toContain('sandbox ');
});

test('an interrupted sync prints the phases so far, and that it was interrupted once', async () => {
  const testbed = await createTestbed();
  const readinessProbe = {exec: {command: ['false']}};
  const {stderr, exitCode} = await testbed.run(['sync', '-', '--timeline'], {
    stdin: aManifest({containers: [aContainerSpec('main', {readinessProbe})]}),
    ...interruptAt(/container main running/),
  });
  expect(exitCode).toBe(130);
  expect(stderr.match(/^kcri: interrupted$/gm)).toHaveLength(1);
  expect(stderr).toMatch(/^default\/web {2}kcri$/m);
  expect(stderr).toMatch(/^ {2}start main {2,}\S+ +\d+ms$/m);
});
