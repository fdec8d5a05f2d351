import {expect, test} from 'vitest';
import {percent} from '../../../src/cli/views/percent.js';

test.each([
  [12.345, '12.35'],
  [0.125, '0.12'],
  [0.375, '0.38'],
  [-0.125, '-0.12'],
  [0, '0.00'],
  [250, '250.00'],
])('%d %% is shown as %s, half-way as Go does', (value, text) => {
  expect(percent(value)).toBe(text);
});
