import {formatAmount} from '../../../api/quantity.js';
import {isHugePageResource} from '../../../api/resource-list.js';
import type {ResourceList} from '../../../api/types/v1-meta.js';
import type {NodeStatus} from '../../../api/types/v1-node.js';
import {isExtendedResource} from '../../../api/validation/validate-resources.js';
import type {ExtendedResources} from '../../contract/resources/extended-resources.js';
import {nodeAllocatable} from '../../resources/node-allocatable.js';
import type {NodeFacts} from '../../contract/node-facts.js';

/** Resources of a node, as its status has them. */
export type NodeResources = Readonly<Record<'capacity' | 'allocatable', ResourceList>>;

const NANOS = 1_000_000_000n;
const MILLI_NANOS = 1_000_000n;

/**
 * Returns the resources of the node and those that others have added, such as extended resources, of which everything is
 * allocatable. Those of the node's managers are as they say; one that they have no more is 0. An extended resource without
 * capacity is removed (nodestatus.MachineInfo).
 */
export function computeNodeResources(
  node: NodeFacts,
  maxPods: number,
  previous: Pick<NodeStatus, 'capacity' | 'allocatable'>,
  extended?: ExtendedResources,
): NodeResources {
  const devices = extended && {
    ...formatCounts(extended.capacity),
    ...Object.fromEntries(extended.deleted.map((name) => [name, '0'] as const)),
  };
  const capacity = {...previous.capacity, ...capacityOf(node, maxPods), ...devices};
  const kept = Object.entries(previous.allocatable ?? {}).filter(([name]) => !isExtendedResource(name));
  const own = {...capacity, ...allocatableOf(node), ...formatCounts(extended?.allocatable)};
  return {capacity, allocatable: {...Object.fromEntries(kept), ...own}};
}

function formatCounts(counts: ReadonlyMap<string, number> = new Map()): ResourceList {
  return Object.fromEntries([...counts].map(([name, count]) => [name, String(count)] as const));
}

function capacityOf(node: NodeFacts, maxPods: number): ResourceList {
  const hugePages = [...node.hugePageBytes].map(([size, bytes]) => [
    `hugepages-${size.replace('B', 'i')}`,
    formatBytes(bytes, 'BinarySI'),
  ]);
  const {ephemeralStorageBytes: storage} = node;
  return {
    cpu: formatCpu(node.cpuMilli),
    ...(storage > 0n && {'ephemeral-storage': formatBytes(storage, 'BinarySI')}),
    ...(Object.fromEntries(hugePages) as ResourceList),
    memory: formatBytes(node.memoryBytes, 'BinarySI'),
    pods: String(maxPods),
  };
}

/** Returns the allocatable resources that differ from the capacity. */
function allocatableOf(node: NodeFacts): ResourceList {
  const {cpuMilli, memoryBytes, ephemeralStorageBytes} = nodeAllocatable(node);
  const isIsolated = node.ephemeralStorageBytes > 0n;
  return {
    cpu: formatCpu(cpuMilli),
    memory: formatBytes(memoryBytes, 'BinarySI'),
    ...(isIsolated && {'ephemeral-storage': formatBytes(ephemeralStorageBytes, 'DecimalSI')}),
  };
}

const formatCpu = (milli: bigint): string => formatAmount({nanos: milli * MILLI_NANOS, format: 'DecimalSI'});

const formatBytes = (bytes: bigint, format: 'BinarySI' | 'DecimalSI'): string =>
  formatAmount({nanos: bytes * NANOS, format});

/**
 * Returns the resources of a Node that existed before the kubelet: huge pages are those of the node, and extended
 * resources are 0, since no device plugin has reported them to this kubelet, unless an earlier one on this node has stored them
 * (reconcileHugePageResource, reconcileExtendedResource).
 */
export function reconcileNodeResources(
  existing: NodeStatus,
  initial: NodeStatus,
  keepsExtended = false,
): NodeResources {
  return {
    capacity: reconcileList(existing.capacity, initial.capacity, keepsExtended),
    allocatable: reconcileList(existing.allocatable, initial.allocatable, keepsExtended),
  };
}

function reconcileList(
  existing: ResourceList | undefined,
  initial: ResourceList = {},
  keepsExtended: boolean,
): ResourceList {
  if (existing === undefined) return initial;
  const kept = Object.entries(existing).filter(([name]) => !isHugePageResource(name));
  const hugePages = Object.entries(initial).filter(([name]) => isHugePageResource(name));
  return Object.fromEntries([
    ...kept.map(
      ([name, amount]) => [name, isExtendedResource(name) && !keepsExtended ? '0' : amount] as const,
    ),
    ...hugePages,
  ]);
}
