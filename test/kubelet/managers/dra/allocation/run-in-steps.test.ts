import {expect, test} from 'vitest';
import {runInSteps} from '../../../../../src/kubelet/managers/dra/allocation/run-in-steps.js';
import {createDeviceSelectors} from '../../../../../src/kubelet/managers/dra/selectors/device-selectors.js';

const LIMITS = {turnMs: 1, stepMs: 60_000, allMs: 60_000};
const DEVICE = {driver: 'gpu.example.com'};

function* endless(): Generator<undefined, never, undefined> {
  for (;;) yield undefined;
}

/** Work whose last step has the result. */
function* inTwoSteps<T>(work: () => T): Generator<undefined, T, undefined> {
  yield undefined;
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
    message: 'the devices of the claims were not found within 20 ms',
    hint: expect.stringContaining('ask for fewer devices') as string,
  });
});

test.each([
  ['a regular expression', '"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!".matches("^(a+)+$")'],
  [
    'a loop',
    'lists.range(1000).map(x, lists.range(1000)).all(a, lists.range(1000).all(b, lists.range(1000).all(c, a.size() == 1000)))',
  ],
])('%s that never ends is interrupted', async (_title, expression) => {
  const {matches} = createDeviceSelectors();
  const work = inTwoSteps(() => matches(expression, DEVICE));
  await expect(runInSteps(work, {...LIMITS, stepMs: 50})).rejects.toThrow(
    'the devices of the claims cannot be chosen: an expression took more than 50 ms',
  );
  expect(matches('true', DEVICE)).toBe(true);
});
