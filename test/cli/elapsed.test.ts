import {PassThrough} from 'node:stream';
import {expect, test} from 'vitest';
import type {Clock} from '../../src/base/clock.js';
import {showingElapsed} from '../../src/cli/elapsed.js';
import {Output} from '../../src/cli/output.js';

/** Waits for work that takes some seconds, on a clock that passes only as it is waited for, and gives what was written. */
async function waited(seconds: number, isTTY: boolean): Promise<string> {
  const stream = Object.assign(new PassThrough(), {isTTY});
  let resolve: (text: string) => void = () => undefined;
  const work = new Promise<string>((give) => (resolve = give));
  let passed = 0;
  const clock: Clock = {
    now: () => 0,
    sleep: async (_ms, signal) => {
      passed += 1;
      if (passed <= seconds) return;
      resolve('done');
      await new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => {
          reject(signal.reason as Error);
        });
      });
    },
  };
  if (!isTTY) resolve('done');
  const output = new Output(stream, 'standard error');
  expect(await showingElapsed(work, {doing: 'pulling x', output, clock})).toBe('done');
  return String((stream.read() as Buffer | null) ?? '');
}

test('on a terminal shows every second how long it takes, and nothing in the end', async () => {
  expect(await waited(2, true)).toBe('\r\x1b[Kpulling x … 1s\r\x1b[Kpulling x … 2s\r\x1b[K');
});

test('shows nothing of what is quick, and nothing in a pipe', async () => {
  expect(await waited(0, true)).toBe('');
  expect(await waited(2, false)).toBe('');
});
