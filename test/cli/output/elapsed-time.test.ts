import {PassThrough} from 'node:stream';
import {expect, test} from 'vitest';
import {withElapsedTime} from '../../../src/cli/output/elapsed-time.js';
import {Output} from '../../../src/cli/output/output.js';
import {FakeClock} from '../../fakes/fake-clock.js';

/** Runs work that takes some seconds on a fake clock, and returns the output. */
async function runWithElapsedTime(
  seconds: number,
  isTTY: boolean,
  {columns, ...env}: {readonly columns?: number; readonly LANG?: string; readonly TERM?: string} = {},
): Promise<string> {
  const stream = Object.assign(new PassThrough(), {isTTY, ...(columns !== undefined && {columns})});
  let resolve: (text: string) => void = () => undefined;
  const work = new Promise<string>((give) => (resolve = give));
  const clock = new FakeClock();
  if (!isTTY) resolve('done');
  const output = new Output(stream, 'standard error');
  const result = withElapsedTime(work, {
    activity: 'pulling x',
    output,
    context: {clock, env: {LANG: 'C.UTF-8', ...env}},
  });
  for (let second = 0; second < seconds; second++) await clock.advance(1000);
  resolve('done');
  expect(await result).toBe('done');
  return String((stream.read() as Buffer | null) ?? '');
}

test('a terminal shows the elapsed seconds, which are cleared at the end', async () => {
  expect(await runWithElapsedTime(2, true)).toBe('\r\x1b[Kpulling x … 1s\r\x1b[Kpulling x … 2s\r\x1b[K');
  expect(await runWithElapsedTime(1, true, {LANG: 'C'})).toBe('\r\x1b[Kpulling x ... 1s\r\x1b[K');
});

test('quick work and pipes show no elapsed time', async () => {
  expect(await runWithElapsedTime(0, true)).toBe('');
  expect(await runWithElapsedTime(2, false)).toBe('');
});

test('the line fits the terminal, of which only one line is erased', async () => {
  expect(await runWithElapsedTime(1, true, {columns: 10})).toBe('\r\x1b[Kpulling x\r\x1b[K');
});

test('a terminal that cannot erase a line shows no elapsed time', async () => {
  expect(await runWithElapsedTime(2, true, {TERM: 'dumb'})).toBe('');
});
