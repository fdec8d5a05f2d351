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
