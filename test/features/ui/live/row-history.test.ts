import {expect, test} from 'vitest';
import {RowHistory} from '../../../../src/features/ui/live/row-history.js';

const NONE: ReadonlySet<string> = new Set();

test('the last samples of a row are kept, with gaps where a value was unknown', () => {
  const history = new RowHistory();
  history.record([{key: 'a', cpuPercent: 1, memoryBytes: 10}], NONE, 1000);
  history.record([{key: 'a', memoryBytes: 11}, {key: 'b'}], NONE, 2000);
  expect(history.rows).toEqual({
    a: {timesMs: [1000, 2000], cpuPercent: [1, null], memoryBytes: [10, 11]},
    b: {timesMs: [2000], cpuPercent: [null], memoryBytes: [null]},
  });
  expect([history.lastCpu('a'), history.lastCpu('x')]).toEqual([undefined, undefined]);
});

test('rows that are gone are forgotten, and rows of a silent node are kept without a sample', () => {
  const history = new RowHistory();
  history.record(
    [
      {key: 'a', cpuPercent: 1},
      {key: 'b', cpuPercent: 2},
    ],
    NONE,
    1000,
  );
  history.record([{key: 'a', cpuPercent: 1}], new Set(['a']), 2000);
  expect(history.rows).toEqual({a: {timesMs: [1000], cpuPercent: [1], memoryBytes: [null]}});
  expect(history.lastCpu('a')).toBe(1);
});

test.each([
  [1, 150],
  [500, 59],
  [10_000, 20],
])('of %d rows, %d samples each are kept', (rows, kept) => {
  const history = new RowHistory();
  const all = Array.from({length: rows}, (_, index) => ({key: String(index), cpuPercent: 1}));
  for (let count = 0; count < kept + 5; count += 1) history.record(all, NONE, count);
  expect(history.rows['0']?.timesMs).toHaveLength(kept);
  expect(history.rows['0']?.timesMs.at(-1)).toBe(kept + 4);
});
