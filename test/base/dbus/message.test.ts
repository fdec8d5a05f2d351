import {describe, expect, test} from 'vitest';
import {DBusMessageSplitter, encodeMessage, METHOD_CALL} from '../../../src/base/dbus/message.js';
import {DBusReader, DBusWriter, splitSignature, type DBusValue} from '../../../src/base/dbus/wire.js';

const CALL = {
  type: METHOD_CALL,
  serial: 7,
  path: '/a',
  interface: 'b.c',
  member: 'D',
  destination: 'e.f',
  signature: 'sutb',
  body: ['text', 3, 2n ** 40n, true],
};

test('a message survives being cut at any place', () => {
  const bytes = Buffer.concat([encodeMessage(CALL), encodeMessage({...CALL, serial: 8})]);
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const splitter = new DBusMessageSplitter();
    const messages = [...splitter.push(bytes.subarray(0, cut)), ...splitter.push(bytes.subarray(cut))];
    expect(messages).toEqual([CALL, {...CALL, serial: 8}]);
  }
});

test('signatures are split into complete types', () => {
  expect(splitSignature('ua(yv)a{sv}aasg')).toEqual(['u', 'a(yv)', 'a{sv}', 'aas', 'g']);
  expect(() => splitSignature('a(y')).toThrow('invalid signature');
});

test.each<[string, readonly DBusValue[]]>([
  ['y', [255]],
  ['i', [-1]],
  ['as', [['a', 'bc', '']]],
  ['yv', [1, {signature: 'as', value: ['x']}]],
  ['ya(yt)', [1, [[2, 3n], [4, 5n]]]], // prettier-ignore
  ['og', ['/path', 'a{sv}']],
])('values of %s are read as they were written', (signature, values) => {
  expect(new DBusReader(new DBusWriter().write(signature, values).bytes, true).read(signature)).toEqual(
    values,
  );
});

test('big-endian messages are read in their order', () => {
  const bytes = Buffer.from('000000010000000000000000000002', 'hex');
  expect(new DBusReader(Buffer.concat([bytes, Buffer.alloc(1, 3)]), false).read('ut')).toEqual([1, 0x203n]);
});

describe('malformed bytes are an error', () => {
  test.each([
    ['s', '64000000', 'ends within a text'],
    ['as', 'ffffff7f', 'ends within an array'],
    ['u', '0000', 'ends within a value'],
    ['z', '00', 'unknown type "z"'],
    ['v', '017600'.repeat(40), 'nested too deeply'],
  ])('in %s', (signature, hex, message) => {
    expect(() => new DBusReader(Buffer.from(hex, 'hex'), true).read(signature)).toThrow(message);
  });

  test('a message that is too long is not waited for', () => {
    const bytes = encodeMessage(CALL);
    bytes.writeUInt32LE(0x7fff_ffff, 4);
    expect(() => new DBusMessageSplitter().push(bytes)).toThrow('is too long');
  });
});
