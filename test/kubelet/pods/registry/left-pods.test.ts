import {expect, test} from 'vitest';
import type {Mount} from '../../../../src/cri/index.js';
import {mountsPodFiles} from '../../../../src/kubelet/pods/registry/left-pods.js';

const mounting = (...hostPaths: readonly string[]) => [
  {cri: {mounts: []}},
  {cri: {mounts: hostPaths.map((hostPath) => ({hostPath}) as Mount)}},
];

test.each([
  [true, '/var/lib/kubelet/pods/0b1c/etc-hosts'],
  [true, '/var/lib/kubelet/pods/0b1c/containers/main/4e5f6a7b'],
  [false, '/var/lib/kcri/pods/0b1c/etc-hosts'],
  [false, '/var/lib/kubelet/pods/0b1c2/etc-hosts'],
  [false, '/var/lib/kubelet/pods/0b1c/volumes/kubernetes.io~empty-dir/data'],
  [false, '/var/lib/kubelet/pods/0b1c/containers/main'],
  [false, '/var/log/pods'],
])('whether a pod is of the root directory is %s if a container mounts %s', (expected, path) => {
  expect(mountsPodFiles(mounting('/data', path), '/var/lib/kubelet/pods/0b1c')).toBe(expected);
});

test('a pod without mounts is not of the root directory', () => {
  expect(mountsPodFiles(mounting(), '/var/lib/kubelet/pods/0b1c')).toBe(false);
});
