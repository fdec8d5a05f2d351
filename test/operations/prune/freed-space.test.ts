import {expect, test} from 'vitest';
import {computeFreedSpace, type SizedImage} from '../../../src/operations/prune/freed-space.js';

const image = (size: number, ...layers: readonly string[]): SizedImage => ({size: BigInt(size), layers});

test.each<[string, SizedImage[], SizedImage[], [number, number]]>([
  ['no image', [], [], [0, 0]],
  ['an image of its own layers', [image(5, 'a')], [image(9, 'b')], [5, 5]],
  ['an image with a layer of a kept one', [image(5, 'a', 'b')], [image(9, 'a')], [0, 5]],
  ['images that share layers with each other', [image(5, 'a', 'b'), image(7, 'a', 'c')], [], [7, 12]],
  [
    'images that share layers through another one',
    [image(5, 'a'), image(7, 'b'), image(2, 'a', 'b')],
    [],
    [7, 14],
  ],
  ['a shared and an own image', [image(5, 'a'), image(7, 'b')], [image(9, 'a')], [7, 12]],
  ['an image of unknown layers beside a kept one', [image(5)], [image(9, 'a')], [0, 5]],
  ['all images, of unknown layers', [image(5), image(7)], [], [7, 12]],
  ['an image beside a kept one of unknown layers', [image(5, 'a')], [image(9)], [0, 5]],
])('the removal of %s', (_, removed, kept, [min, max]) => {
  expect(computeFreedSpace(removed, kept)).toEqual({min: BigInt(min), max: BigInt(max)});
});
