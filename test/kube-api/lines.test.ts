import {expect, test} from 'vitest';
import {splitLines} from '../../src/kube-api/lines.js';

async function* chunks(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

test.each<[string, readonly string[], readonly string[]]>([
  ['lines within a chunk', ['a\nb\n'], ['a', 'b']],
  ['a line over several chunks', ['a', 'b', 'c\nd\n'], ['abc', 'd']],
  ['an incomplete last line', ['a\nb'], ['a']],
  ['a character over two chunks', ['é\n'], ['é']],
])('%s is split', async (_title, texts, expected) => {
  const lines: string[] = [];
  for await (const line of splitLines(chunks(...texts))) lines.push(line);
  expect(lines).toEqual(expected);
});

test('a line that is too long is an error', async () => {
  const lines = splitLines(chunks('12345', '67890', '1'), 10);
  await expect(lines.next()).rejects.toThrow('a line of more than 10 bytes');
});
