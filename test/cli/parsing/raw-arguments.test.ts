import {expect, test} from 'vitest';
import {withInvalidBytes} from '../../../src/cli/parsing/raw-arguments.js';

/** The arguments of a process as Node.js decodes them, and as withInvalidBytes does. */
function argumentsOf(bytes: readonly number[]): readonly string[] {
  const record = Buffer.concat([Buffer.from('node\0kcri\0ps\0'), Buffer.from(bytes), Buffer.from('\0')]);
  return withInvalidBytes(['ps', Buffer.from(bytes).toString()], () => record);
}

test.each([
  ['a byte that starts nothing', [0x61, 0xff, 0x62], 'a\udcffb'],
  ['a sequence that is cut off', [0xe2, 0x82], '\udce2\udc82'],
  ['an encoded surrogate', [0xed, 0xa0, 0x80], '\udced\udca0\udc80'],
  ['valid characters of all lengths', [...Buffer.from('aé€😀\ufffd')], 'aé€😀\ufffd'],
])('%s is kept', (_title, bytes, text) => {
  expect(argumentsOf(bytes)).toEqual(['ps', text]);
});

test('arguments of another process, and those without a record, are left alone', () => {
  expect(withInvalidBytes(['\ufffd'], () => Buffer.from('other\0x\0'))).toEqual(['\ufffd']);
  const missing = (): Buffer => {
    throw new Error('ENOENT');
  };
  expect(withInvalidBytes(['\ufffd'], missing)).toEqual(['\ufffd']);
});
