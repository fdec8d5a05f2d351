import {expect, test} from 'vitest';
import {LINEAR_GROWTH, measureTimeGrowth} from './time-growth.js';

function spend(steps: number): number {
  let sum = 0;
  for (let step = 0; step < steps; step += 1) sum = (sum + step * step) % 1_000_003;
  return sum;
}

test('quadratic work is told from linear work', () => {
  expect(measureTimeGrowth(12_000, (size) => spend((size * size) / 4))).toBeGreaterThan(LINEAR_GROWTH);
  expect(measureTimeGrowth(10_000_000, spend)).toBeLessThan(LINEAR_GROWTH);
});

test('work that takes next to no time is not quadratic', () => {
  expect(measureTimeGrowth(1000, () => undefined)).toBeLessThan(LINEAR_GROWTH);
});
