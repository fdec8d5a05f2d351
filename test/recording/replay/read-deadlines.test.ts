import {describe, expect, test} from 'vitest';
import {ReadDeadlines} from '../../../src/recording/replay/read-deadlines.js';

describe('deadlines of reads', () => {
  test('a read has five seconds on a runtime that is as fast as the recorded one', () => {
    expect(new ReadDeadlines().deadline(1000, 1500)).toBe(6500);
  });

  test('a replay that is ahead waits for the time of the recording, too', () => {
    const deadlines = new ReadDeadlines();
    deadlines.add({startMs: 0, endMs: 20_000}, {startMs: 0, endMs: 1000}, false);
    expect(deadlines.deadline(21_000, 1100)).toBe(26_000);
  });

  test('a read comes as long after a call that ended late as in the recording', () => {
    const deadlines = new ReadDeadlines();
    deadlines.add({startMs: 0, endMs: 100}, {startMs: 0, endMs: 9000}, false);
    // The recorded client read ten seconds after the call.
    expect(deadlines.deadline(10_100, 9100)).toBe(9000 + 10_000 + 5000);
  });

  test('slow starts extend the time in proportion, up to a minute', () => {
    const deadlines = new ReadDeadlines();
    deadlines.add({startMs: 0, endMs: 500}, {startMs: 0, endMs: 1500}, true);
    expect(deadlines.deadline(1500, 2500)).toBe(2500 + 10_000);
    deadlines.add({startMs: 500, endMs: 510}, {startMs: 1500, endMs: 60_000}, true);
    expect(deadlines.deadline(510, 60_000)).toBe(60_000 + 60_000);
  });

  test('starts that take a few milliseconds longer do not count', () => {
    const deadlines = new ReadDeadlines();
    deadlines.add({startMs: 0, endMs: 1}, {startMs: 0, endMs: 6}, true);
    expect(deadlines.deadline(10, 10) - 10 - 5).toBeCloseTo(5050, -2);
  });
});
