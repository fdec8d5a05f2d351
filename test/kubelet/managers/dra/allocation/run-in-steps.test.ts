import {expect, test} from 'vitest';
import {runInSteps} from '../../../../../src/kubelet/managers/dra/allocation/run-in-steps.js';

const LIMITS = {turnMs: 1, stepMs: 60_000, allMs: 60_000};

function* endless(): Generator<string, never, undefined> {
  for (;;) yield 'claim ns/c';
}

/** Work whose last step has the result. */
function* inTwoSteps<T>(work: () => T): Generator<string, T, undefined> {
  yield 'claim ns/c: selector #1';
  return work();
}

test('work has the result of its last step, or its error', async () => {
  expect(
    await runInSteps(
      inTwoSteps(() => 'done'),
      LIMITS,
    ),
  ).toBe('done');
  const failing = inTwoSteps(() => {
    throw new RangeError('no');
  });
  await expect(runInSteps(failing, LIMITS)).rejects.toThrow(RangeError);
});

test('the event loop has its turns between steps, and the work ends with the signal', async () => {
  const end = new AbortController();
  const reason = new Error('enough');
  setTimeout(() => {
    end.abort(reason);
  }, 0);
  await expect(runInSteps(endless(), LIMITS, end.signal)).rejects.toBe(reason);
});

test('work ends at the limit of its time', async () => {
  await expect(runInSteps(endless(), {...LIMITS, allMs: 20})).rejects.toMatchObject({
    message: 'claim ns/c: no devices were found within 20 ms',
    hint: expect.stringContaining('ask for fewer devices') as string,
  });
});

test.each([
  ['a regular expression', () => /^(a+)+$/.test(`${'a'.repeat(60)}!`)],
  [
    'a loop',
    () => {
      for (;;);
    },
  ],
])('%s that never ends is interrupted, and the error names the step', async (_title, work) => {
  await expect(runInSteps(inTwoSteps(work), {...LIMITS, stepMs: 50})).rejects.toMatchObject({
    message: 'claim ns/c: selector #1: took more than 50 ms',
    hint: expect.stringContaining('simplify the CEL expressions') as string,
  });
});
