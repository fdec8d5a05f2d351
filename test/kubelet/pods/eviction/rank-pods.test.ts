import {describe, expect, test} from 'vitest';
import type {Pod} from '../../../../src/api/types/v1-pod.js';
import {NO_FILES, type FileUsage} from '../../../../src/base/fs/file-usage.js';
import type {EvictionSignal} from '../../../../src/kubelet/contract/resources/eviction-settings.js';
import type {FilesystemLayout, MeasuredPod} from '../../../../src/kubelet/contract/resources/node-signals.js';
import {podRef} from '../../../../src/kubelet/contract/pod-ref.js';
import {rankForEviction} from '../../../../src/kubelet/pods/eviction/rank-pods.js';
import {aContainer, aPod} from '../../../fakes/a-pod.js';

const ONE_DISK = {dedicatedImageFs: false, splitContainerFs: false};
const IMAGE_DISK = {dedicatedImageFs: true, splitContainerFs: false};
const SPLIT_DISK = {dedicatedImageFs: true, splitContainerFs: true};

interface Sample extends Partial<Omit<MeasuredPod, 'containers'>> {
  /** Requests of its container. */
  readonly requests?: Readonly<Record<string, string>>;
  readonly priority?: number;
  readonly layer?: FileUsage;
  readonly logs?: FileUsage;
  readonly isMeasured?: boolean;
}

const files = (usedBytes: number, inodesUsed = 0): FileUsage => ({
  usedBytes: BigInt(usedBytes),
  inodesUsed: BigInt(inodesUsed),
});

/** Returns the names of the pods in the order of their eviction. */
function rank(
  signal: EvictionSignal,
  samples: Readonly<Record<string, Sample>>,
  layout: FilesystemLayout = ONE_DISK,
): readonly string[] {
  const usages = new Map<ReturnType<typeof podRef>['uid'], MeasuredPod>();
  const pods = Object.entries(samples).map(([name, sample]): Pod => {
    const {requests, priority, layer = NO_FILES, logs = NO_FILES, isMeasured = true} = sample;
    const container = aContainer({name: 'main', ...(requests && {resources: {requests}})});
    const pod = aPod({containers: [container], ...(priority !== undefined && {priority})}, {name, uid: name});
    const {memoryBytes = 0n, processes = 0n, volumes = NO_FILES} = sample;
    const containers = [{name: 'main', memoryBytes: undefined, layer, logs}];
    if (isMeasured) usages.set(podRef(pod).uid, {memoryBytes, processes, volumes, containers});
    return pod;
  });
  return rankForEviction(signal, pods, usages, layout).map((pod) => podRef(pod).name);
}

test('for memory: pods above their requests, then low priority, then much above the request', () => {
  expect(
    rank('memory.available', {
      within: {requests: {memory: '100'}, memoryBytes: 100n, priority: -5},
      important: {memoryBytes: 1000n, priority: 10},
      little: {requests: {memory: '90'}, memoryBytes: 100n},
      much: {requests: {memory: '10'}, memoryBytes: 50n},
      unknown: {isMeasured: false, priority: 100},
    }),
  ).toEqual(['unknown', 'much', 'little', 'important', 'within']);
});

test('for processes: low priority, then many processes, whatever is requested', () => {
  expect(
    rank('pid.available', {
      important: {processes: 100n, priority: 1},
      few: {processes: 2n},
      many: {processes: 50n},
      unknown: {isMeasured: false},
    }),
  ).toEqual(['unknown', 'many', 'few', 'important']);
});

test('for inodes: pods with many files', () => {
  expect(
    rank('nodefs.inodesFree', {few: {layer: files(900, 1)}, many: {volumes: files(1, 50)}, none: {}}),
  ).toEqual(['many', 'few', 'none']);
});

describe('for storage, the files on the filesystem of the signal count', () => {
  const samples = {layer: {layer: files(30)}, logs: {logs: files(20)}, volume: {volumes: files(10)}};
  test.each([
    ['nodefs.available', ONE_DISK, ['layer', 'logs', 'volume']],
    ['imagefs.available', ONE_DISK, ['layer', 'logs', 'volume']],
    ['nodefs.available', IMAGE_DISK, ['logs', 'volume', 'layer']],
    ['imagefs.available', IMAGE_DISK, ['layer', 'logs', 'volume']],
    ['containerfs.available', IMAGE_DISK, ['layer', 'logs', 'volume']],
    ['containerfs.available', SPLIT_DISK, ['layer', 'logs', 'volume']],
  ] as const)('%s with %j', (signal, layout, order) => {
    expect(rank(signal, samples, layout)).toEqual(order);
  });

  test('a pod within its request comes last', () => {
    const requests = {'ephemeral-storage': '1000'};
    expect(
      rank('nodefs.available', {within: {requests, layer: files(999)}, above: {logs: files(1)}}),
    ).toEqual(['above', 'within']);
  });
});
