import {describe, expect, test} from 'vitest';
import {decideReplacement} from '../../../../src/kubelet/managers/workloads/decide-replacement.js';

const FAILED = {phase: 'Failed', isAvailable: false} as const;

describe('a failed pod of a workload', () => {
  test('is removed 10 s after it has failed', () => {
    const first = decideReplacement(undefined, FAILED, 1000);
    expect(first).toEqual({failures: {count: 1, failedAtMs: 1000}, isRemoved: false, checkAtMs: 11_000});
    expect(decideReplacement(first.failures, FAILED, 10_999).isRemoved).toBe(false);
    expect(decideReplacement(first.failures, FAILED, 11_000)).toEqual({
      failures: {count: 1, failedAtMs: undefined},
      isRemoved: true,
    });
  });

  test.each([
    [1, 20_000],
    [2, 40_000],
    [5, 300_000],
    [50, 300_000],
  ])('after %i failures is removed after %i ms', (count, delayMs) => {
    const {checkAtMs} = decideReplacement({count, failedAtMs: undefined}, FAILED, 1000);
    expect(checkAtMs).toBe(1000 + delayMs);
  });

  test('that runs again keeps its failures until it is available', () => {
    const failures = {count: 3, failedAtMs: undefined};
    expect(decideReplacement(failures, {phase: 'Running', isAvailable: false}, 0).failures).toBe(failures);
    expect(decideReplacement(failures, {phase: 'Running', isAvailable: true}, 0).failures).toBeUndefined();
  });
});
