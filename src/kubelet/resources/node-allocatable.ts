import type {NodeFacts} from '../contract/node-facts.js';
import type {CgroupLimits} from '../contract/resources/cgroup-limits.js';
import type {EvictionThreshold} from '../contract/resources/eviction-settings.js';
import type {NodeReservations} from '../contract/resources/node-reservations.js';
import {milliCpuToShares} from './cpu-shares.js';
import {DEFAULT_EVICTION_HARD, evictionReserve, parseThresholds} from './eviction-thresholds.js';

/** Properties of a node that its allocatable resources depend on. */
export type AllocatableFacts = Pick<
  NodeFacts,
  'cpuMilli' | 'memoryBytes' | 'ephemeralStorageBytes' | 'hugePageBytes' | 'reservations'
>;

/**
 * Returns the allocatable resources of the node: the capacity minus the reserved resources, the eviction reserve and, for
 * memory, the huge pages (GetNodeAllocatableReservation, nodestatus.MachineInfo). Without reservations, the eviction reserve
 * is that of the default thresholds.
 */
export function nodeAllocatable(
  node: AllocatableFacts,
): Pick<NodeFacts, 'cpuMilli' | 'memoryBytes' | 'ephemeralStorageBytes'> {
  const {total, eviction = computeEvictionReserve(DEFAULT_THRESHOLDS, node)} = node.reservations ?? {};
  const {cpuMilli = 0n, memoryBytes = 0n, ephemeralStorageBytes = 0n} = total ?? {};
  const hugePages = [...node.hugePageBytes.values()].reduce((sum, bytes) => sum + bytes, 0n);
  return {
    cpuMilli: atLeastZero(node.cpuMilli - cpuMilli),
    memoryBytes: atLeastZero(node.memoryBytes - eviction.memoryBytes - memoryBytes - hugePages),
    ephemeralStorageBytes: atLeastZero(
      node.ephemeralStorageBytes - eviction.ephemeralStorageBytes - ephemeralStorageBytes,
    ),
  };
}

const DEFAULT_THRESHOLDS = parseThresholds(DEFAULT_EVICTION_HARD);

/** Returns the memory and storage of the node that hard thresholds retain (hardEvictionReservation). */
export function computeEvictionReserve(
  thresholds: readonly EvictionThreshold[],
  node: Pick<NodeFacts, 'memoryBytes' | 'ephemeralStorageBytes'>,
): NodeReservations['eviction'] {
  return {
    memoryBytes: evictionReserve(thresholds, 'memory.available', node.memoryBytes),
    ephemeralStorageBytes: evictionReserve(thresholds, 'nodefs.available', node.ephemeralStorageBytes),
  };
}

function atLeastZero(amount: bigint): bigint {
  return amount < 0n ? 0n : amount;
}

/** Returns the memory that is not reserved for the system, without the eviction reserve (GetNodeAllocatableAbsolute). */
export function reservableMemory({
  memoryBytes,
  reservations,
}: Pick<NodeFacts, 'memoryBytes' | 'reservations'>): bigint {
  return atLeastZero(memoryBytes - (reservations?.total.memoryBytes ?? 0n));
}

/**
 * Returns the limits of all pods together, without the eviction reserve; undefined for none (getNodeAllocatableInternalAbsolute,
 * getCgroupConfig).
 */
export function allPodsLimits(
  node: Pick<NodeFacts, 'cpuMilli' | 'memoryBytes' | 'maxPids' | 'hugePageBytes' | 'reservations'>,
): Partial<CgroupLimits> | undefined {
  const {reservations, maxPids, hugePageBytes} = node;
  if (reservations === undefined) return undefined;
  const {cpuMilli = 0n, memoryBytes = 0n, pids = 0n} = reservations.limitsPods ? reservations.total : {};
  return {
    cpuShares: milliCpuToShares(atLeastZero(node.cpuMilli - cpuMilli)),
    memoryBytes: atLeastZero(node.memoryBytes - memoryBytes),
    ...(maxPids !== undefined && {pids: atLeastZero(maxPids - pids)}),
    hugePages: hugePageBytes,
  };
}
