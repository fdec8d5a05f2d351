import {expect, test} from 'vitest';
import {counted} from '../../src/base/counted.js';

test.each([
  [0, 'pod', '0 pods'],
  [1, 'pod', '1 pod'],
  [2, 'sandbox', '2 sandboxes'],
  [2, 'process', '2 processes'],
  [2, 'directory', '2 directories'],
  [2, 'day', '2 days'],
  [1, 'CRI call', '1 CRI call'],
])('%i of a %s is "%s"', (count, noun, text) => {
  expect(counted(count, noun)).toBe(text);
});
