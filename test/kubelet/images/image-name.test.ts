import {expect, test} from 'vitest';
import {applyDefaultImageTag} from '../../../src/kubelet/images/image-name.js';

const digest = `sha256:${'a'.repeat(64)}`;

test.each([
  ['busybox', 'busybox:latest'],
  ['busybox:1.36', 'busybox:1.36'],
  ['localhost:5000/busybox', 'localhost:5000/busybox:latest'],
  ['registry.example:5000/team/app_1/web-2:v1', 'registry.example:5000/team/app_1/web-2:v1'],
  [`busybox@${digest}`, `busybox@${digest}`],
  [`busybox:1@${digest}`, `busybox:1@${digest}`],
  ['[::1]:5000/busybox', '[::1]:5000/busybox:latest'],
])('%s becomes %s', (image, tagged) => {
  expect(applyDefaultImageTag(image)).toBe(tagged);
});

test.each([
  ['Bad Name'],
  ['UPPER/Case'],
  ['busybox:'],
  ['busybox@sha256:short'],
  [''],
  ['a//b'],
  ['f'.repeat(64)],
])('%j is not an image reference', (image) => {
  expect(applyDefaultImageTag(image.length === 64 ? 'a'.repeat(64) : image)).toBeUndefined();
});
