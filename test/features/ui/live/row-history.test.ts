import {expect, test} from 'vitest';
import {RowHistory} from '../../../../src/features/ui/live/row-history.js';

const used = (cpuPercent: number | null, memoryBytes: number | null = null) => ({cpuPercent, memoryBytes});

test('the last samples of a row are kept, with gaps where a value was unknown', () => {
  const history = new RowHistory();
  history.begin(1000);
  history.set('a', used(1, 10));
  history.begin(2000);
  history.set('a', used(null, 11));
  history.set('b', used(null));
  expect(history.rows).toEqual({
    a: {timesMs: [1000, 2000], cpuPercent: [1, null], memoryBytes: [10, 11]},
    b: {timesMs: [2000], cpuPercent: [null], memoryBytes: [null]},
  });
});

test('a row that is not set has its last usage in each sample', () => {
  const history = new RowHistory();
  for (const nowMs of [1000, 2000, 3000]) {
    history.begin(nowMs);
    if (nowMs !== 2000) history.set('a', used(nowMs));
  }
  expect(history.rows['a']).toMatchObject({timesMs: [1000, 2000, 3000], cpuPercent: [1000, 1000, 3000]});
});

test('a row that is not measured has no samples until it is again', () => {
  const history = new RowHistory();
  for (const nowMs of [1000, 2000, 3000, 4000]) {
    history.begin(nowMs);
    if (nowMs === 2000) history.set('a', undefined);
    else if (nowMs !== 3000) history.set('a', used(1));
  }
  expect(history.rows['a']).toMatchObject({timesMs: [1000, 4000], cpuPercent: [1, 1]});
});

test('rows are forgotten', () => {
  const history = new RowHistory();
  history.begin(1000);
  history.set('a', used(1));
  history.delete('a');
  expect(history.rows).toEqual({});
});

test.each([
  [1, 150],
  [500, 59],
  [10_000, 20],
])('of %d rows, %d samples each are kept, whether they change or not', (rows, kept) => {
  const history = new RowHistory();
  for (let count = 0; count < kept + 320; count += 1) {
    history.begin(count);
    for (let row = 0; row < rows && (count === 0 || row === 0); row += 1)
      history.set(String(row), used(row === 0 ? count : 1));
  }
  const {timesMs = [], cpuPercent} = history.rows['0'] ?? {};
  expect(timesMs).toHaveLength(kept);
  expect(timesMs.at(-1)).toBe(kept + 319);
  expect(cpuPercent).toEqual(timesMs);
  expect(history.rows[String(rows - 1)]?.timesMs).toEqual(timesMs);
});
