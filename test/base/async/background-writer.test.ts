import {expect, test} from 'vitest';
import {BackgroundWriter} from '../../../src/base/async/background-writer.js';
import {pause} from '../../../src/base/async/pause.js';
import {FakeClock} from '../../fakes/fake-clock.js';

const GATHER_MS = 1000;

/** A writer that gathers for a second of its clock, and whose writes are recorded with their times. */
class GatheringWriter {
  readonly clock = new FakeClock();
  readonly writes: string[] = [];
  idles = 0;
  #waiting: string[] = [];
  /** Holds up writes until it resolves. */
  held: Promise<void> = Promise.resolve();
  readonly writer = new BackgroundWriter({
    write: async () => {
      const texts = this.#waiting;
      this.#waiting = [];
      await this.held;
      this.writes.push(`${texts.join(' ')} at ${this.clock.now()}`);
    },
    onFailure: (error) => {
      throw error;
    },
    gather: async (signal) => {
      await pause(this.clock, GATHER_MS, signal).catch(() => undefined);
    },
    onIdle: () => void (this.idles += 1),
  });

  /** Adds something to write. Resolves when the writer gathers or writes. */
  async add(text: string): Promise<void> {
    this.#waiting.push(text);
    this.writer.wake();
    await this.clock.advance(0);
  }
}

test('what arrives until it is time to write is written together', async () => {
  const destination = new GatheringWriter();
  await destination.add('a');
  await destination.clock.advance(GATHER_MS - 1);
  await destination.add('b');
  expect(destination.writes).toEqual([]);
  await destination.clock.advance(1);
  expect(destination.writes).toEqual(['a b at 1000']);
  await destination.add('c');
  await destination.clock.advance(GATHER_MS);
  expect(destination.writes).toEqual(['a b at 1000', 'c at 2000']);
  expect(destination.idles).toBe(2);
});

test('a flush and urgent work write at once what waits, and the next work is gathered again', async () => {
  const destination = new GatheringWriter();
  await destination.add('a');
  await destination.writer.flush();
  await destination.add('b');
  destination.writer.hurry();
  await destination.clock.advance(0);
  expect(destination.writes).toEqual(['a at 0', 'b at 0']);
  destination.writer.hurry();
  await destination.writer.flush();
  await destination.add('c');
  await destination.clock.advance(GATHER_MS - 1);
  expect(destination.writes).toHaveLength(2);
});

test('what arrives during a flush is written by it', async () => {
  const destination = new GatheringWriter();
  let release: () => void = () => undefined;
  destination.held = new Promise((resolve) => (release = resolve));
  await destination.add('a');
  const flushed = destination.writer.flush();
  await destination.clock.advance(0);
  await destination.add('b');
  release();
  await flushed;
  expect(destination.writes).toEqual(['a at 0', 'b at 0']);
});

test('cancelled work is not written', async () => {
  const destination = new GatheringWriter();
  await destination.add('a');
  await destination.writer.cancel();
  await destination.clock.advance(GATHER_MS);
  expect(destination).toMatchObject({writes: [], idles: 1});
});
