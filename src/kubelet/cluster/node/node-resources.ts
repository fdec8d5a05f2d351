import {formatAmount} from '../../../api/quantity.js';
import {isHugePageResource} from '../../../api/resource-list.js';
import type {ResourceList} from '../../../api/types/v1-meta.js';
import type {NodeStatus} from '../../../api/types/v1-node.js';
import {isExtendedResource} from '../../../api/validation/validate-resources.js';
import {nodeAllocatable} from '../../resources/node-allocatable.js';
import type {NodeFacts} from '../../contract/node-facts.js';

/** Resources of a node, as its status has them. */
export type NodeResources = Readonly<Record<'capacity' | 'allocatable', ResourceList>>;

const NANOS = 1_000_000_000n;
const MILLI_NANOS = 1_000_000n;

/**
 * Returns the resources of the node and those that others have added, such as extended resources, of which everything is
 * allocatable. An extended resource without capacity is removed (nodestatus.MachineInfo).
 */
export function computeNodeResources(
  node: NodeFacts,
  maxPods: number,
  previous: Pick<NodeStatus, 'capacity' | 'allocatable'>,
): NodeResources {
  const capacity = {...previous.capacity, ...capacityOf(node, maxPods)};
  const kept = Object.entries(previous.allocatable ?? {}).filter(([name]) => !isExtendedResource(name));
  return {capacity, allocatable: {...Object.fromEntries(kept), ...capacity, ...allocatableOf(node)}};
}

function capacityOf(node: NodeFacts, maxPods: number): ResourceList {
  const hugePages = [...node.hugePageBytes].map(([size, bytes]) => [
    `hugepages-${size.replace('B', 'i')}`,
    formatBytes(bytes, 'BinarySI'),
  ]);
  return {
    cpu: formatCpu(node.cpuMilli),
    'ephemeral-storage': formatBytes(node.ephemeralStorageBytes, 'BinarySI'),
    ...(Object.fromEntries(hugePages) as ResourceList),
    memory: formatBytes(node.memoryBytes, 'BinarySI'),
    pods: String(maxPods),
  };
}

/** Returns the allocatable resources that differ from the capacity. */
function allocatableOf(node: NodeFacts): ResourceList {
  const {cpuMilli, memoryBytes, ephemeralStorageBytes} = nodeAllocatable(node);
  return {
    cpu: formatCpu(cpuMilli),
    memory: formatBytes(memoryBytes, 'BinarySI'),
    'ephemeral-storage': formatBytes(ephemeralStorageBytes, 'DecimalSI'),
  };
}

const formatCpu = (milli: bigint): string => formatAmount({nanos: milli * MILLI_NANOS, format: 'DecimalSI'});

const formatBytes = (bytes: bigint, format: 'BinarySI' | 'DecimalSI'): string =>
  formatAmount({nanos: bytes * NANOS, format});

/**
 * Returns the resources of a Node that existed before the kubelet: huge pages are those of the node, and extended
 * resources are 0, since no device plugin has reported them to this kubelet (reconcileHugePageResource,
 * reconcileExtendedResource).
 */
export function reconcileNodeResources(existing: NodeStatus, initial: NodeStatus): NodeResources {
  return {
    capacity: reconcileList(existing.capacity, initial.capacity),
    allocatable: reconcileList(existing.allocatable, initial.allocatable),
  };
}

function reconcileList(existing: ResourceList | undefined, initial: ResourceList = {}): ResourceList {
  if (existing === undefined) return initial;
  const kept = Object.entries(existing).filter(([name]) => !isHugePageResource(name));
  const hugePages = Object.entries(initial).filter(([name]) => isHugePageResource(name));
  return Object.fromEntries([
    ...kept.map(([name, amount]) => [name, isExtendedResource(name) ? '0' : amount] as const),
    ...hugePages,
  ]);
}
