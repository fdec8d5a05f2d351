import {expect, test} from 'vitest';
import {
  ENTRY,
  ringMemory,
  RingReader,
  RingWriter,
  type RingEntry,
} from '../../../src/recording/tap/byte-ring.js';

const ALL = 1e9;

function aRing(bytes: number) {
  const memory = ringMemory(bytes);
  const reader = new RingReader(memory);
  const read = (maxBytes = ALL) => {
    const entries: (RingEntry & {text: string})[] = [];
    const hasMore = reader.drain(
      (entry, chunk) => entries.push({...entry, text: chunk.toString()}),
      maxBytes,
    );
    return {entries, hasMore};
  };
  return {writer: new RingWriter(memory), read};
}

const anEntry = (connection: number): RingEntry => ({
  kind: ENTRY.client,
  connection,
  nowMs: 1e12 + 0.25,
  sinceMs: 3.5,
});

test('entries are read as they were put', () => {
  const {writer, read} = aRing(1024);
  writer.put(anEntry(7), Buffer.from('hello'));
  writer.put({...anEntry(7), kind: ENTRY.close}, Buffer.alloc(0));
  expect(read()).toEqual({
    entries: [
      {...anEntry(7), text: 'hello'},
      {...anEntry(7), kind: ENTRY.close, text: ''},
    ],
    hasMore: false,
  });
  expect(writer.used).toBe(0);
});

test('entries of many rounds keep their order and content, wherever the memory ends', () => {
  const {writer, read} = aRing(512);
  const sent: string[] = [];
  const received: string[] = [];
  for (let round = 0; round < 2000; round += 1) {
    const text = `${round}-`.repeat(1 + (round % 23));
    while (!writer.put(anEntry(round), Buffer.from(text)))
      received.push(...read(64).entries.map((entry) => `${entry.connection} ${entry.text}`));
    sent.push(`${round} ${text}`);
  }
  received.push(...read().entries.map((entry) => `${entry.connection} ${entry.text}`));
  expect(received).toEqual(sent);
});

test('what has no room is not put', () => {
  const {writer, read} = aRing(256);
  expect(writer.put(anEntry(1), Buffer.alloc(200))).toBe(true);
  expect(writer.put(anEntry(2), Buffer.alloc(9))).toBe(false);
  read();
  expect(writer.put(anEntry(2), Buffer.alloc(9))).toBe(true);
});

test('a reader is to be woken when it waits, at first too, and not twice', () => {
  const {writer, read} = aRing(1024);
  writer.put(anEntry(1), Buffer.from('a'));
  expect([writer.takeWaiting(), writer.takeWaiting()]).toEqual([true, false]);
  writer.put(anEntry(1), Buffer.from('b'));
  expect(read(1).hasMore).toBe(true);
  expect(writer.takeWaiting()).toBe(false);
  expect(read().hasMore).toBe(false);
  expect(writer.takeWaiting()).toBe(true);
});
