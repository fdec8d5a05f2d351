import {expect, test} from 'vitest';
import type {Side} from '../../../src/recording/tap/connection-tap.js';
import {SpdyTap} from '../../../src/recording/sessions/spdy-tap.js';
import {dataHeader, HeaderEncoder, rstStream, synStream} from '../../../src/streaming/spdy/frames.js';

/** A tap, and what it reads as lines. */
function aTap(): {readonly tap: SpdyTap; readonly lines: string[]} {
  const lines: string[] = [];
  const tap = new SpdyTap({
    onData: ({stream}, side, chunk) => {
      lines.push(`${side} ${stream}: ${chunk.toString()}`);
    },
    onStreamEnd: ({stream}, side) => {
      lines.push(`${side} ${stream} end`);
    },
  });
  return {tap, lines};
}

const data = (id: number, text: string, fin = false): Buffer =>
  Buffer.concat([dataHeader(id, text.length, fin), Buffer.from(text)]);

test('a stream has its name until both sides have ended it', () => {
  const {tap, lines} = aTap();
  const headers = new HeaderEncoder();
  const frames: readonly (readonly [Side, Buffer])[] = [
    ['client', synStream(1, headers.encode({streamtype: 'error'}), true)],
    ['client', synStream(3, headers.encode({streamtype: 'stdin'}))],
    ['client', data(3, 'in', true)],
    ['server', data(1, 'failed', true)],
    ['server', data(3, 'out')],
    // Streams that have ended are not remembered.
    ['server', data(1, 'late')],
  ];
  for (const [side, frame] of frames) tap.read(side, frame);
  expect(lines).toEqual([
    'client error end',
    'client stdin: in',
    'client stdin end',
    'server error: failed',
    'server error end',
    'server stdin: out',
    'server stream 1: late',
  ]);
});

test('a stream has its name for what was sent before its reset was heard of, unless many others were reset', () => {
  const {tap, lines} = aTap();
  const headers = new HeaderEncoder();
  const open = (id: number): void => {
    tap.read('client', synStream(id, headers.encode({streamtype: 'data'})));
    tap.read('client', rstStream(id));
  };
  open(1);
  tap.read('server', data(1, 'sent'));
  for (let id = 3; id < 200; id += 2) open(id);
  tap.read('server', data(1, 'late'));
  expect(lines).toEqual(['server data: sent', 'server stream 1: late']);
});

test('a SYN_REPLY may end a stream', () => {
  const {tap, lines} = aTap();
  tap.read('client', synStream(1, new HeaderEncoder().encode({streamtype: 'error'})));
  const reply = synStream(1, Buffer.alloc(0), true);
  reply.writeUInt16BE(2, 2);
  tap.read('server', reply);
  expect(lines).toEqual(['server error end']);
});

test('a stream whose headers cannot be read makes the session partly unreadable', () => {
  const {tap, lines} = aTap();
  expect(tap.isUnreadable).toBe(false);
  tap.read('client', synStream(1, Buffer.from('not zlib')));
  tap.read('server', data(1, 'out'));
  expect({lines, isUnreadable: tap.isUnreadable}).toEqual({
    lines: ['server stream 1: out'],
    isUnreadable: true,
  });
});
