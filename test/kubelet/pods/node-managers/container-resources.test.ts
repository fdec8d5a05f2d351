import {readFileSync} from 'node:fs';
import {expect, test} from 'vitest';
import {omit} from '../../../../src/base/omit.js';
import type {Pod} from '../../../../src/api/types/v1-pod.js';
import type {ContainerResources} from '../../../../src/kubelet/contract/node-manager.js';
import type {NodeFacts} from '../../../../src/kubelet/contract/node-facts.js';
import {linuxContainerResources} from '../../../../src/kubelet/managers/kuberuntime/config/resources/linux-resources.js';
import {containerSwapBehavior} from '../../../../src/kubelet/managers/swap/swap-manager.js';
import {createNodeManagers} from '../../../../src/kubelet/pods/node-managers/create-node-managers.js';
import {NodeManagerSet} from '../../../../src/kubelet/pods/node-managers/node-manager-set.js';
import {replaceResources} from '../../../../src/kubelet/resources/partial-resources.js';
import {GOLDEN_NODE} from '../../../golden/golden-cases.js';

/** A case of kubelet 1.36.2's own code: the configuration and the node, and the resources of a container. */
interface Case {
  readonly id: string;
  readonly pod: Pod;
  readonly container: string;
  readonly cgroupV2: boolean;
  readonly swapControllerAvailable: boolean;
  readonly swapBehavior: string;
  readonly memoryCapacity: number;
  readonly swapCapacity: number;
  readonly nodeAllocatableMemory: number;
  readonly MemoryQoS: boolean;
  readonly memoryReservationPolicy: string;
  readonly memoryThrottlingFactor: number;
  readonly singleProcessOOMKill: boolean;
  readonly cpuCFSQuota: boolean;
  readonly containerSwapBehavior: string;
  readonly linux: Readonly<Record<string, unknown>>;
}

const CASES = readFileSync(new URL('container-resources.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Case);

test.each(CASES)('$id has the resources of the kubelet', (given) => {
  const node = nodeOf(given);
  const {pod} = given;
  const container = pod.spec.containers.find(({name}) => name === given.container) ?? expect.fail('none');
  const managers = new NodeManagerSet(createNodeManagers(node));
  const resources = replaceResources(
    linuxContainerResources(pod, container, node),
    managers.resources({pod, container, node}),
  );
  expect(containerSwapBehavior(pod, container, node)).toBe(given.containerSwapBehavior);
  expect(toOracleForm(resources)).toEqual(given.linux);
});

function nodeOf(given: Case): NodeFacts {
  const [memoryBytes, allocatable] = [BigInt(given.memoryCapacity), BigInt(given.nodeAllocatableMemory)];
  const none = {cpuMilli: 0n, memoryBytes: 0n, ephemeralStorageBytes: 0n, pids: 0n};
  return {
    ...GOLDEN_NODE,
    cgroup: {
      ...GOLDEN_NODE.cgroup,
      version: given.cgroupV2 ? 2 : 1,
      swapAccounting: given.swapControllerAvailable,
    },
    memoryBytes,
    swapBytes: BigInt(given.swapCapacity),
    reservations: {
      total: {...none, memoryBytes: memoryBytes - allocatable},
      eviction: none,
      limitsPods: true,
      cgroups: [],
    },
    containerPolicy: {
      enforcesCpuLimits: given.cpuCFSQuota,
      cpuPeriodMicros: 100_000n,
      singleProcessOomKill: given.singleProcessOOMKill,
      swapBehavior: given.swapBehavior === 'LimitedSwap' ? 'LimitedSwap' : 'NoSwap',
      memoryQos: given.MemoryQoS
        ? {
            protectsRequests: given.memoryReservationPolicy === 'TieredReservation',
            throttlingFactor: given.memoryThrottlingFactor,
          }
        : undefined,
    },
  };
}

/** Returns resources under their names in the API, without huge pages and zero values. */
function toOracleForm(resources: ContainerResources): Case['linux'] {
  const entries = Object.entries(omit(resources, 'hugepageLimits'))
    .map(
      ([name, value]) => [name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value] as const,
    )
    .filter(([, value]) => value !== undefined && value !== 0n)
    .map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value] as const);
  return Object.fromEntries(entries);
}
