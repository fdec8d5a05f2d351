import {execFileSync} from 'node:child_process';
import {expect, test} from 'vitest';
import {shellQuote} from '../../src/base/shell-quote.js';

test.each([
  ['/pods/u/volumes/kubernetes.io~empty-dir/e', '/pods/u/volumes/kubernetes.io~empty-dir/e'],
  ['/plain/path.txt', '/plain/path.txt'],
  ['/x; reboot', "'/x; reboot'"],
  ['', "''"],
])('%j is quoted as %s', (text, word) => {
  expect(shellQuote(text)).toBe(word);
});

test.each(['$(id)', "it's `id`", 'a b', 'a\nb', '"', '\\', '*', '~'])(
  'a shell reads %j as one word',
  (text) => {
    expect(execFileSync('sh', ['-c', `printf %s ${shellQuote(text)}`]).toString()).toBe(text);
  },
);
