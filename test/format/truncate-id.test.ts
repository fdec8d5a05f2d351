import {expect, test} from 'vitest';
import {truncateDigest, truncateId} from '../../src/format/truncate-id.js';

const HEX = '0123456789abcdef'.repeat(4);

test.each([
  [HEX, '0123456789abc'],
  [`sha256:${HEX}`, '0123456789abc'],
  ['short', 'short'],
  ['', ''],
])('truncateId(%s) is %s', (id, shown) => {
  expect(truncateId(id)).toBe(shown);
});

test.each([
  [`sha256:${HEX}`, '0123456789abc'],
  [`sha512:${HEX}${HEX}`, '0123456789abc'],
  [`sha256:${HEX}0`, `sha256:${HEX}0`],
  [`md5:${HEX}`, `md5:${HEX}`],
  ['registry.k8s.io/pause:3.10', 'registry.k8s.io/pause:3.10'],
])('truncateDigest(%s) is %s', (image, shown) => {
  expect(truncateDigest(image)).toBe(shown);
});
