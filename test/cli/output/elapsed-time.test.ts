import {PassThrough} from 'node:stream';
import {expect, test} from 'vitest';
import {withElapsedTime} from '../../../src/cli/output/elapsed-time.js';
import {Output} from '../../../src/cli/output/output.js';
import {FakeClock} from '../../fakes/fake-clock.js';

/** Waits for work that takes some seconds, on a clock that passes only as it is waited for, and gives what was written. */
async function waited(seconds: number, isTTY: boolean): Promise<string> {
  const stream = Object.assign(new PassThrough(), {isTTY});
  let resolve: (text: string) => void = () => undefined;
  const work = new Promise<string>((give) => (resolve = give));
  const clock = new FakeClock();
  if (!isTTY) resolve('done');
  const output = new Output(stream, 'standard error');
  const result = withElapsedTime(work, {activity: 'pulling x', output, clock});
  for (let second = 0; second < seconds; second++) await clock.advance(1000);
  resolve('done');
  expect(await result).toBe('done');
  return String((stream.read() as Buffer | null) ?? '');
}

test('on a terminal shows every second how long it takes, and nothing in the end', async () => {
  expect(await waited(2, true)).toBe('\r\x1b[Kpulling x … 1s\r\x1b[Kpulling x … 2s\r\x1b[K');
});

test('shows nothing of what is quick, and nothing in a pipe', async () => {
  expect(await waited(0, true)).toBe('');
  expect(await waited(2, false)).toBe('');
});
