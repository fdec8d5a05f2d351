import {expect, test} from 'vitest';
import {yamlText} from '../../src/format/yaml.js';

test('keys are sorted and lists are not indented', async () => {
  expect(await yamlText({b: [{d: 1, c: 'x'}], a: {}})).toBe('a: {}\nb:\n- c: x\n  d: 1\n');
});

test.each([
  ['123', '"123"'],
  ['true', '"true"'],
  ['', '""'],
  ['0x1f', '"0x1f"'],
  ['2026-11-20T14:00:00.5Z', '"2026-11-20T14:00:00.5Z"'],
  ['plain text', 'plain text'],
  ['a: b', "'a: b'"],
  ['sha256:abc', 'sha256:abc'],
  ['two\nlines\n', '|\n  two\n  lines'],
])('the text %j is written %s', async (text, written) => {
  expect(await yamlText({key: text})).toBe(`key: ${written}\n`);
});

test('numbers above 2^53 stay exact', async () => {
  expect(await yamlText({big: 9007199254740993n, none: null})).toBe('big: 9007199254740993\nnone: null\n');
});
