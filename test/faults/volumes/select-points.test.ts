import {expect, test} from 'vitest';
import {selectPoints} from './select-points.js';
import type {VolumePoint} from './volume-point.js';

const POINTS: readonly VolumePoint[] = [1, 2, 3, 4].map((killBeforeStep) => ({
  killBeforeStep,
  aftermath: 'reboot',
}));
/** Returns a generator of these numbers, over and over. */
const repeat = (...numbers: readonly number[]): (() => number) => {
  let next = 0;
  return () => numbers[next++ % numbers.length] ?? 0;
};

test('points come in a random order', () => {
  const order = selectPoints(POINTS, {every: 1}, repeat(0, 0, 0, 0, 0.5, 0.1, 0.9, 0.3));
  expect(order.map(({killBeforeStep}) => killBeforeStep)).toEqual([2, 4, 1, 3]);
});

test('one point in a number is chosen', () => {
  expect(selectPoints(POINTS, {every: 2}, repeat(0.1, 0.9, 0.2, 0.8))).toEqual([POINTS[0], POINTS[2]]);
});

test('points that were played are not played again, whatever step the kubelet was killed before', () => {
  const played = [
    'kill before step 2, reboot (rename /root/pods/a (b))',
    'kill before step 3, reboot',
    'no fault',
  ];
  expect(selectPoints(POINTS, {every: 1, played}, repeat(0))).toEqual([POINTS[0], POINTS[3]]);
});

test('points without a text are left out', () => {
  expect(selectPoints(POINTS, {every: 1, only: 'step 4'}, repeat(0))).toEqual([POINTS[3]]);
});
