import {expect, test} from 'vitest';
import {StandingWarnings} from '../../../src/features/sync/standing-warnings.js';
import {aPod} from '../../fakes/a-pod.js';

test.each([
  [true, ['VolumeResizeFailed: too large', 'VolumeResizeFailed: too small']],
  [false, []],
])(
  'a failed expansion of a volume is noted once, if there is no time limit (%s)',
  (isUnlimited, expected) => {
    const notes: string[] = [];
    const warnings = new StandingWarnings({isUnlimited, note: (_pod, text) => void notes.push(text)});
    const pod = aPod();
    for (const message of ['too large', 'too large', 'too small'])
      warnings.observe({type: 'Warning', reason: 'VolumeResizeFailed', message, pod});
    warnings.observe({type: 'Warning', reason: 'FailedMount', message: 'ends the sync', pod});
    expect(notes).toEqual(expected);
  },
);

test('only the last thousand warnings are remembered, and what to do is said once', () => {
  const notes: string[] = [];
  const warnings = new StandingWarnings({isUnlimited: true, note: (_pod, text) => void notes.push(text)});
  const pod = aPod();
  const warn = (number: number): void => {
    warnings.observe({type: 'Warning', reason: 'FailedScheduling', message: `attempt ${number}`, pod});
  };
  for (let number = 0; number <= 1000; number += 1) warn(number);
  warn(1000);
  warn(0);
  expect(notes).toHaveLength(1003);
  expect(notes.filter((text) => text.includes('--timeout'))).toHaveLength(1);
  expect(notes.at(-1)).toBe('FailedScheduling: attempt 0');
});
