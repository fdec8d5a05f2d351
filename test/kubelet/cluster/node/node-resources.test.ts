import {expect, test} from 'vitest';
import type {ResourceList} from '../../../../src/api/types/v1-meta.js';
import {
  computeNodeResources,
  reconcileNodeResources,
} from '../../../../src/kubelet/cluster/node/node-resources.js';
import {GOLDEN_NODE} from '../../../golden/golden-cases.js';

const MIB = 1024n ** 2n;
const DONGLE = 'example.com/dongle';

test('resources that others have added stay, and all of an extended resource is allocatable', () => {
  const own = computeNodeResources(GOLDEN_NODE, 110, {});
  const added = {[DONGLE]: '4', 'attachable-volumes-ebs': '25'};
  const previous = {
    capacity: {...own.capacity, ...added, cpu: '64'},
    allocatable: {...own.allocatable, [DONGLE]: '1', 'example.com/removed': '1', batch: '7'},
  };
  expect(computeNodeResources(GOLDEN_NODE, 110, previous)).toEqual({
    capacity: {...own.capacity, ...added},
    allocatable: {...own.allocatable, ...added, batch: '7'},
  });
});

test('without isolation of local storage, ephemeral-storage is no resource of the node, but stays on a Node that had it', () => {
  const node = {...GOLDEN_NODE, ephemeralStorageBytes: 0n};
  const {capacity, allocatable} = computeNodeResources(node, 110, {});
  expect([capacity, allocatable].map((list) => Object.keys(list).includes('ephemeral-storage'))).toEqual([
    ...[false, false],
  ]);
  const previous = {capacity: {'ephemeral-storage': '9Gi'}, allocatable: {'ephemeral-storage': '8Gi'}};
  expect(computeNodeResources(node, 110, previous)).toMatchObject({
    capacity: {'ephemeral-storage': '9Gi'},
    allocatable: {'ephemeral-storage': '9Gi'},
  });
});

test('huge pages are no allocatable memory', () => {
  const memoryBytes = 4096n * MIB;
  const memoryWith = (hugePages: ReadonlyMap<string, bigint>): string | undefined => {
    const node = {...GOLDEN_NODE, memoryBytes, hugePageBytes: hugePages};
    return computeNodeResources(node, 110, {}).allocatable['memory'];
  };
  expect(memoryWith(new Map())).toBe('3996Mi');
  const some = new Map([
    ['2MB', 1024n * MIB],
    ['1GB', 2048n * MIB],
  ]);
  expect(memoryWith(some)).toBe('924Mi');
  expect(memoryWith(new Map([['2MB', 4090n * MIB]]))).toBe('0');
});

test('on a Node that existed, extended resources are 0 until they are advertised again, and huge pages are those of the node', () => {
  const initial: ResourceList = {cpu: '2', 'hugepages-2Mi': '4Mi', pods: '110'};
  const existing: ResourceList = {
    ...{cpu: '4', 'hugepages-2Mi': '0', 'hugepages-64Ki': '0', [DONGLE]: '4', 'attachable-volumes-ebs': '25'},
  };
  const reconciled = {cpu: '4', 'hugepages-2Mi': '4Mi', [DONGLE]: '0', 'attachable-volumes-ebs': '25'};
  expect(
    reconcileNodeResources(
      {capacity: existing, allocatable: existing},
      {capacity: initial, allocatable: initial},
    ),
  ).toEqual({capacity: reconciled, allocatable: reconciled});
  expect(reconcileNodeResources({}, {capacity: initial, allocatable: initial})).toEqual({
    ...{capacity: initial, allocatable: initial},
  });
});
