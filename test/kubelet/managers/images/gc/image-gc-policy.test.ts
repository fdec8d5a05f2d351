import {expect, test} from 'vitest';
import {imageId, type Image} from '../../../../../src/cri/index.js';
import {
  formatBinarySize,
  DEFAULT_IMAGE_GC_POLICY,
  detectImages,
  imagesInEvictionOrder,
  markUsed,
  NEVER,
  computeSpaceToFree,
  imagesOverMaxAge,
  type ImageUse,
} from '../../../../../src/kubelet/managers/images/gc/image-gc-policy.js';

const NOW = 1_000_000;
const POLICY = DEFAULT_IMAGE_GC_POLICY;

function anImage(id: string, fields: Partial<Image> = {}): Image {
  return {id: imageId(id), repoTags: [], repoDigests: [], size: 1n, username: '', pinned: false, ...fields};
}

test('the times of detection and last use are tracked', () => {
  const [a, b] = [anImage('a'), anImage('b')];
  const first = detectImages(new Map(), [a], {isUsed: () => false, now: 1});
  const second = detectImages(first, [a, b], {isUsed: (image) => image === a, now: 2});
  const third = markUsed(detectImages(second, [b], {isUsed: () => false, now: 3}), [b], 3);
  expect([...first]).toEqual([['a', {firstDetected: 1, lastUsed: NEVER}]]);
  expect([...second]).toEqual([
    ['a', {firstDetected: 1, lastUsed: 2}],
    ['b', {firstDetected: 2, lastUsed: NEVER}],
  ]);
  expect([...third]).toEqual([['b', {firstDetected: 2, lastUsed: 3}]]);
});

test.for<[string, Readonly<Record<string, ImageUse>>, string[]]>([
  [
    'the longest unused come first, then the longest known',
    {
      a: {firstDetected: 0, lastUsed: 5},
      b: {firstDetected: 1, lastUsed: NEVER},
      c: {firstDetected: NEVER, lastUsed: NEVER},
    },
    ['c', 'b', 'a'],
  ],
  ['one in use is kept', {a: {firstDetected: NEVER, lastUsed: NOW}}, []],
  ['one that is too new is kept', {a: {firstDetected: NOW - 119_999, lastUsed: NEVER}}, []],
  ['one that is just old enough is removed', {a: {firstDetected: NOW - 120_000, lastUsed: NEVER}}, ['a']],
])('of several images %s', ([, uses, order]) => {
  const images = Object.keys(uses).map((id) => anImage(id));
  const found = imagesInEvictionOrder(images, new Map(Object.entries(uses)), {policy: POLICY, now: NOW});
  expect(found.map(({id}) => id)).toEqual(order);
});

test('pinned and undetected images are kept', () => {
  const use = {firstDetected: NEVER, lastUsed: NEVER};
  const images = [anImage('pinned', {pinned: true}), anImage('new')];
  expect(imagesInEvictionOrder(images, new Map([['pinned', use]]), {policy: POLICY, now: NOW})).toEqual([]);
});

test.for<[string, number, number, number, boolean]>([
  ['without a limit', 0, NEVER, 0, false],
  ['if unused for longer than the limit', 1000, NOW - 1001, 0, true],
  ['if unused for exactly the limit', 1000, NOW - 1000, 0, false],
  ['if the kubelet has not run for that long', 1000, NEVER, NOW - 1000, false],
])('an image is checked for its maximum age: %s', ([, maxAgeMs, lastUsed, startedAt, old]) => {
  const uses = new Map([['a', {firstDetected: NEVER, lastUsed}]]);
  const found = imagesOverMaxAge([anImage('a')], uses, {policy: {...POLICY, maxAgeMs}, now: NOW, startedAt});
  expect(found).toHaveLength(old ? 1 : 0);
});

test.for<[bigint, number, bigint]>([
  [100n, 0, 0n],
  [16n, 84, 0n],
  [15n, 85, 5n],
  [0n, 100, 20n],
  [200n, 0, 0n],
])(
  'with %s of 100 bytes free the usage is %s %% and %s bytes must be freed',
  ([availableBytes, usedPercent, bytes]) => {
    expect(computeSpaceToFree({capacityBytes: 100n, availableBytes}, POLICY)).toEqual({usedPercent, bytes});
  },
);

test('with a threshold of 100 percent nothing is freed', () => {
  const usage = {capacityBytes: 100n, availableBytes: 0n};
  expect(computeSpaceToFree(usage, {...POLICY, highThresholdPercent: 100}).bytes).toBe(0n);
});

test('sizes are formatted in binary units', () => {
  expect([0n, 1023n, 1536n, 123_162_000_000n].map(formatBinarySize)).toEqual([
    '0 B',
    '1023 B',
    '1.5 KiB',
    '114.7 GiB',
  ]);
});
