import {expect, test} from 'vitest';
import {decideTick, type LoopWatch, type WatchLimits} from '../../../src/base/watchdog/loop-watch.js';

const LIMITS: WatchLimits = {tickMs: 1000, blockedTicks: 3, fatalTicks: 5};

/** Returns the decisions of a watch that sees these numbers of beats at its ticks. */
function decisions(beats: readonly number[]): readonly string[] {
  let watch: LoopWatch = {beats: 0, silentTicks: 0};
  return beats.map((count) => {
    const {watch: next, decision} = decideTick(watch, count, LIMITS);
    watch = next;
    return decision.kind === 'resumed' ? `resumed after ${decision.silentTicks}` : decision.kind;
  });
}

test.each([
  {
    name: 'an event loop that beats in each tick',
    beats: [1, 2, 3, 4],
    expected: ['wait', 'wait', 'wait', 'wait'],
  },
  {name: 'short silences', beats: [1, 1, 1, 2, 2, 2, 3], expected: Array(7).fill('wait')},
  {
    name: 'a block that ends',
    beats: [1, 1, 1, 1, 1, 9, 10],
    expected: ['wait', 'wait', 'wait', 'blocked', 'blocked', 'resumed after 4', 'wait'],
  },
  {
    name: 'a block without an end',
    beats: [0, 0, 0, 0, 0, 0],
    expected: ['wait', 'wait', 'blocked', 'blocked', 'fatal', 'fatal'],
  },
  {
    name: 'a second block',
    beats: [0, 0, 0, 1, 1, 1, 1, 2],
    expected: ['wait', 'wait', 'blocked', 'resumed after 3', 'wait', 'wait', 'blocked', 'resumed after 3'],
  },
])('$name leads to $expected', ({beats, expected}) => {
  expect(decisions(beats)).toEqual(expected);
});
