import {expect, test} from 'vitest';
import type {Side} from '../../../src/recording/tap/connection-tap.js';
import {WebSocketTap} from '../../../src/recording/sessions/websocket-tap.js';

const BINARY = 2;
const CONTINUATION = 0;
const PING = 9;
const FIN = 0x80;

interface Frame {
  readonly opcode: number;
  readonly payload: Buffer;
  readonly isLast?: boolean;
  readonly mask?: readonly number[];
}

function frame({opcode, payload, isLast = true, mask}: Frame): Buffer {
  const {length} = payload;
  const extended = Buffer.alloc(length < 126 ? 0 : length < 65_536 ? 2 : 8);
  if (extended.length === 2) extended.writeUInt16BE(length);
  if (extended.length === 8) extended.writeBigUInt64BE(BigInt(length));
  const short = [length, 0, 126, 0, 0, 0, 0, 0, 127][extended.length] ?? 0;
  const masked = payload.map((byte, index) => byte ^ (mask?.[index % 4] ?? 0));
  const head = Buffer.of((isLast ? FIN : 0) | opcode, (mask === undefined ? 0 : FIN) | short);
  return Buffer.concat([head, extended, Buffer.from(mask ?? []), masked]);
}

/** Returns what a tap reads of the bytes of one side, in parts of the size. */
function read(from: Side, bytes: Buffer, {size = 1e9, forwardsPorts = false} = {}): readonly string[] {
  const found = new Map<string, string>();
  const tap = new WebSocketTap(
    {
      onData: ({stream, port}, side, chunk) => {
        const key = [side, stream, ...(port === undefined ? [] : [port])].join(' ');
        found.set(key, (found.get(key) ?? '') + chunk.toString('latin1'));
      },
      onStreamEnd: ({stream}, side) => {
        found.set(`${side} ${stream} end`, '');
      },
    },
    {forwardsPorts},
  );
  for (let at = 0; at < bytes.length; at += size) tap.read(from, bytes.subarray(at, at + size));
  return [...found].map(([key, text]) => (text === '' ? key : `${key}: ${text}`));
}

const message = (channel: number, text: string): Buffer =>
  Buffer.concat([Buffer.of(channel), Buffer.from(text)]);

test.each([1, 2, 5, 1e9])('reads masked, fragmented and long messages in parts of %i bytes', (size) => {
  const long = 'x'.repeat(70_000);
  const middle = 'y'.repeat(300);
  const bytes = Buffer.concat([
    frame({opcode: BINARY, payload: message(0, 'ab'), isLast: false, mask: [1, 2, 3, 4]}),
    frame({opcode: PING, payload: Buffer.from('ping'), mask: [9, 9, 9, 9]}),
    frame({opcode: CONTINUATION, payload: Buffer.from('cd'), mask: [5, 6, 7, 8]}),
    frame({opcode: BINARY, payload: message(1, middle)}),
    frame({opcode: BINARY, payload: Buffer.of(1)}),
    frame({opcode: BINARY, payload: message(2, long)}),
    frame({opcode: BINARY, payload: Buffer.of(255, 0)}),
  ]);
  expect(read('client', bytes, {size})).toEqual([
    'client stdin: abcd',
    `client stdout: ${middle}`,
    `client stderr: ${long}`,
    'client stdin end',
  ]);
});

test('the first message on a channel of a forwarding has its port', () => {
  const bytes = Buffer.concat([
    frame({opcode: BINARY, payload: Buffer.of(0, 80, 0)}),
    frame({opcode: BINARY, payload: Buffer.of(1, 80, 0)}),
    frame({opcode: BINARY, payload: message(0, 'hi')}),
    frame({opcode: BINARY, payload: message(1, 'refused')}),
  ]);
  expect(read('server', bytes, {forwardsPorts: true})).toEqual([
    'server data 80: hi',
    'server error 80: refused',
  ]);
});

test('channels of base64 subprotocols are digits', () => {
  expect(read('server', frame({opcode: 1, payload: Buffer.from('1aGk=')}))).toEqual(['server stdout: aGk=']);
});

test('an extension such as compression cannot be read', () => {
  const compressed = Buffer.of(FIN | 0x40 | BINARY, 1, 0);
  expect(() => read('server', compressed)).toThrow('extension');
});
