import {execFileSync} from 'node:child_process';
import {expect, test} from 'vitest';
import {shellWord} from '../../src/base/shell-word.js';

test.each([
  ['/pods/u/volumes/kubernetes.io~empty-dir/e', '/pods/u/volumes/kubernetes.io~empty-dir/e'],
  ['/plain/path.txt', '/plain/path.txt'],
  ['/x; reboot', "'/x; reboot'"],
  ['', "''"],
])('%j is %s', (text, word) => {
  expect(shellWord(text)).toBe(word);
});

test.each(['$(id)', "it's `id`", 'a b', 'a\nb', '"', '\\', '*', '~'])(
  'a shell takes %j for one word',
  (text) => {
    expect(execFileSync('sh', ['-c', `printf %s ${shellWord(text)}`]).toString()).toBe(text);
  },
);
