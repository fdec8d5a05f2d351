import {expect, test} from 'vitest';
import {episodesOf} from '../../../src/features/timeline/episodes.js';
import type {Phase} from '../../../src/features/timeline/phase.js';

test.each([
  ['a run that goes on', undefined, 60],
  ['a long run', 100_000, 60],
  ['a short run', 1060, 1060],
])('%s has an end of its episode', (_what, endMs, expected) => {
  const phases: readonly Phase[] = [
    {name: 'start', subject: 'main', startMs: 0, endMs: 60, source: 'runtime'},
    {name: 'running', subject: 'main', startMs: 60, source: 'runtime', ...(endMs !== undefined && {endMs})},
  ];
  const about = {namespace: 'team', name: 'web', uid: 'u1', startMs: 0, nowMs: 200_000};
  expect(episodesOf({...about, phases}).map((episode) => episode.endMs)).toEqual([expected]);
});
