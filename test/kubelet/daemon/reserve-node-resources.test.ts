import {expect, test} from 'vitest';
import {computeReservations, withReservations} from '../../../src/kubelet/daemon/reserve-node-resources.js';
import {readKubeletConfig} from '../../../src/kubelet/configuration/kubelet-config.js';
import type {ConfigValues} from '../../../src/kubelet/configuration/fields-and-defaults/kubelet-config-defaults.js';
import {nodeAllocatable} from '../../../src/kubelet/resources/node-allocatable.js';
import {GOLDEN_NODE} from '../../golden/golden-cases.js';

const NODE = {memoryBytes: 1024n ** 3n, ephemeralStorageBytes: 1_000_000n};

/** Returns the values of a configuration with these flags. */
function valuesOf(flags: Readonly<Record<string, readonly string[]>>): ConfigValues {
  return readKubeletConfig([], new Map(Object.entries(flags))).values;
}

test('by default only the default thresholds are reserved, and all pods together are limited', () => {
  expect(computeReservations(valuesOf({}), NODE)).toEqual({
    total: {cpuMilli: 0n, memoryBytes: 0n, ephemeralStorageBytes: 0n, pids: 0n},
    eviction: {memoryBytes: 100n * 1024n ** 2n, ephemeralStorageBytes: 100_000n},
    limitsPods: true,
    cgroups: [],
  });
});

test('what is reserved for the system and for Kubernetes is added up, and enforced where that is configured', () => {
  const reservations = computeReservations(
    valuesOf({
      'system-reserved': ['cpu=500m,memory=1Gi,pid=100'],
      'kube-reserved': ['cpu=250m,ephemeral-storage=1Gi,memory=64Mi'],
      'enforce-node-allocatable': ['system-reserved,kube-reserved-compressible'],
      'system-reserved-cgroup': ['/system'],
      'kube-reserved-cgroup': ['/kube'],
      'eviction-hard': ['nodefs.available<2k,imagefs.available<50%'],
    }),
    NODE,
  );
  expect(reservations).toEqual({
    total: {
      cpuMilli: 750n,
      memoryBytes: 1024n ** 3n + 64n * 1024n ** 2n,
      ephemeralStorageBytes: 1024n ** 3n,
      pids: 100n,
    },
    eviction: {memoryBytes: 0n, ephemeralStorageBytes: 2000n},
    limitsPods: false,
    cgroups: [
      {kind: 'system', path: '/system', limits: {cpuShares: 512n, memoryBytes: 1024n ** 3n, pids: 100n}},
      {kind: 'kube', path: '/kube', limits: {cpuShares: 256n}, isCompressible: true},
    ],
  });
});

test('with memory QoS, the memory of a reserved cgroup is not reclaimed', () => {
  const values = valuesOf({
    'system-reserved': ['memory=1Gi'],
    'enforce-node-allocatable': ['system-reserved'],
    'system-reserved-cgroup': ['/system'],
    'feature-gates': ['MemoryQoS=true'],
  });
  const cgroup = {...GOLDEN_NODE.cgroup, version: 2 as const};
  expect(computeReservations(values, {...NODE, cgroup}).cgroups[0]?.limits).toEqual({
    memoryBytes: 1024n ** 3n,
    memoryFiles: {'memory.min': '1073741824'},
  });
  expect(computeReservations(values, NODE).cgroups[0]?.limits).toEqual({memoryBytes: 1024n ** 3n});
});

test.each([
  [{'system-reserved': ['disk=1']}, 'cannot reserve "disk" resource'],
  [{'kube-reserved': ['cpu=-1']}, 'resource quantity for "cpu" cannot be negative: -1'],
  [{'enforce-node-allocatable': ['pods,all']}, 'option "all" specified for enforceNodeAllocatable'],
  [{'enforce-node-allocatable': ['pods,pods']}, 'duplicated enforcements "pods"'],
  [{'enforce-node-allocatable': ['none,pods']}, 'may not contain additional enforcements'],
  [{'enforce-node-allocatable': ['kube-reserved']}, 'kubeReservedCgroup (--kube-reserved-cgroup) must be'],
  [
    {
      'enforce-node-allocatable': ['kube-reserved,kube-reserved-compressible'],
      'kube-reserved-cgroup': ['/k'],
    },
    'both "kube-reserved" and "kube-reserved-compressible" cannot be specified together',
  ],
])('the flags %j are rejected', (flags, message) => {
  expect(() => valuesOf(flags)).toThrow(message);
});

test('more than the node has cannot be reserved', () => {
  const node = {node: GOLDEN_NODE} as unknown as Parameters<typeof withReservations>[0];
  expect(() => withReservations(node, valuesOf({'system-reserved': ['memory=1Ei']}))).toThrow(
    'invalid Node Allocatable configuration: memory has a reservation of 1152921504711704576 but a capacity of',
  );
});

test('local storage that is not isolated can be reserved, without effect', () => {
  const node = {node: {...GOLDEN_NODE, ephemeralStorageBytes: 0n}} as unknown as Parameters<
    typeof withReservations
  >[0];
  const values = valuesOf({'system-reserved': ['ephemeral-storage=1Gi']});
  expect(nodeAllocatable(withReservations(node, values).node).ephemeralStorageBytes).toBe(0n);
});
