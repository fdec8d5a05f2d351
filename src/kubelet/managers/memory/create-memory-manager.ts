import {canonicalizeQuantity} from '../../../api/quantity.js';
import type {ManagedNode} from '../../contract/node-facts.js';
import type {NodeManager} from '../../contract/node-manager.js';
import {bitSet} from '../../resources/bit-set.js';
import {formatCpuSet} from '../../resources/cpu-set.js';
import type {MemoryUse} from '../../contract/resources/pod-resource-use.js';
import {createUnused, MemoryManager, memoryStateFile, type MemoryCapacity} from './memory-manager.js';
import type {MemoryBlock} from './memory-state.js';

/**
 * Creates the manager that gives containers memory of NUMA nodes by the policy `Static`, or that gives none (`None`). Its
 * start rejects with the kubelet's text if the configuration does not fit the machine or what is stored.
 */
export function createMemoryManager(node: ManagedNode): NodeManager | undefined {
  const {memoryManager: settings, machine, rootDir} = node;
  if (settings === undefined || machine === undefined) return undefined;
  let manager: MemoryManager | undefined;
  const capacity = (): MemoryCapacity => ({
    numaNodes: settings.policy === 'None' ? [] : machine().numaNodes,
    nodeReserved: {memory: reservedMemory(node)},
  });
  return {
    name: 'memory',
    answersPlans: true,
    validate: () => {
      createUnused({settings, ...capacity()});
    },
    start: async (services) => {
      const file = memoryStateFile(rootDir, services);
      manager = await MemoryManager.start({settings, ...capacity(), file}, services);
    },
    topology: {
      podHints: (pod) => manager?.topology.podHints(pod) ?? new Map(),
      containerHints: (pod, container) => manager?.topology.containerHints(pod, container) ?? new Map(),
      allocate: async (pod, container, affinity) => manager?.topology.allocate(pod, container, affinity),
      allocatePod: async (pod, affinity) => manager?.topology.allocatePod(pod, affinity),
    },
    containerOptions: async (request) => Promise.resolve({resources: manager?.resources(request) ?? {}}),
    containerCreated: async (pod, container) => manager?.containerCreated(pod, container),
    podResources: {
      ofContainer: (uid, name) => ({memory: manager?.blocksOf({metadata: {uid}}, name).map(toUse) ?? []}),
      allocatable: () => ({memory: manager?.allocatable().map(toUse) ?? []}),
    },
    explain: (pod, {name}) => {
      const nodes = manager?.blocksOf(pod, name).flatMap(({numaAffinity}) => numaAffinity) ?? [];
      return nodes.length === 0 ? undefined : `memory of NUMA nodes ${formatCpuSet(bitSet(nodes))}`;
    },
  };
}

/** Returns a block as the pod resources API shows it (containerMemoryFromBlock). */
function toUse({type, size, numaAffinity: numaNodes}: MemoryBlock): MemoryUse {
  return {type, bytes: BigInt(size), numaNodes};
}

/** Returns the memory that pods cannot use, hard eviction thresholds included (GetNodeAllocatableReservation). */
function reservedMemory({reservations}: ManagedNode): string {
  const bytes = (reservations?.total.memoryBytes ?? 0n) + (reservations?.eviction.memoryBytes ?? 0n);
  return canonicalizeQuantity(bytes % 1024n === 0n ? `${bytes / 1024n}Ki` : String(bytes));
}
