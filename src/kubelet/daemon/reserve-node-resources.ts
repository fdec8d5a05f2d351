import {ConfigError} from '../../base/errors.js';
import {omit} from '../../base/omit.js';
import {quantityMilliValue, quantityValue} from '../../api/quantity.js';
import type {NodeAndRuntime} from '../pods/registry/read-node.js';
import {isGateEnabled} from '../configuration/feature-gates.js';
import type {ConfigValues} from '../configuration/fields-and-defaults/kubelet-config-defaults.js';
import {computeEvictionReserve} from '../resources/node-allocatable.js';
import type {NodeFacts} from '../contract/node-facts.js';
import {bitSet, countMembers, isSubset} from '../resources/bit-set.js';
import {formatCpuSet, parseCpuSet} from '../resources/cpu-set.js';
import {discoverCpus} from '../resources/machine/discover-cpus.js';
import type {CgroupLimits} from '../contract/resources/cgroup-limits.js';
import {milliCpuToShares} from '../resources/cpu-shares.js';
import {parseEvictionSettings} from '../resources/eviction-thresholds.js';
import type {
  NodeReservations,
  ReservedCgroup,
  ReservedResources,
} from '../contract/resources/node-reservations.js';

type ReservedMap = Readonly<Record<string, string>>;

/** Returns the resources of a node that a configuration reserves, and the limits that enforce them. */
export function computeReservations(
  values: ConfigValues,
  node: Pick<NodeFacts, 'memoryBytes' | 'ephemeralStorageBytes'> & Partial<Pick<NodeFacts, 'cgroup'>>,
): NodeReservations {
  const {enforceNodeAllocatable: enforced} = values;
  const {systemReserved, kubeReserved} = reservedMaps(values);
  const protects = isGateEnabled(values, 'MemoryQoS') && node.cgroup?.version === 2;
  const cgroup = (
    kind: ReservedCgroup['kind'],
    path: string,
    reserved: ReservedMap,
  ): readonly ReservedCgroup[] => {
    const key = `${kind}-reserved`;
    if (enforced.includes(key)) return [{kind, path, limits: limitsOf(reserved, protects)}];
    if (enforced.includes(`${key}-compressible`))
      return [{kind, path, limits: cpuLimitOf(reserved), isCompressible: true}];
    return [];
  };
  return {
    total: sum(resourcesOf(systemReserved), resourcesOf(kubeReserved)),
    eviction: computeEvictionReserve(parseEvictionSettings(values).thresholds, node),
    limitsPods: enforced.includes('pods'),
    cgroups: [
      ...cgroup('system', values.systemReservedCgroup, systemReserved),
      ...cgroup('kube', values.kubeReservedCgroup, kubeReserved),
    ].toSorted((one, other) => Number(one.isCompressible ?? false) - Number(other.isCompressible ?? false)),
  };
}

/** Returns what is reserved; reservedSystemCPUs replaces all CPUs (server.go run). */
function reservedMaps({
  systemReserved,
  kubeReserved,
  reservedSystemCPUs,
}: ConfigValues): Readonly<Record<'systemReserved' | 'kubeReserved', ReservedMap>> {
  if (reservedSystemCPUs === '') return {systemReserved, kubeReserved};
  const cpu = String(countMembers(parseCpuSet(reservedSystemCPUs)));
  return {systemReserved: {...systemReserved, cpu}, kubeReserved: omit(kubeReserved, 'cpu')};
}

/** Throws ConfigError if a CPU that is reserved is not online (getReservedCPUs). */
export function checkReservedCpus(
  {machine}: Pick<NodeFacts, 'machine'>,
  {reservedSystemCPUs: cpus}: ConfigValues,
): void {
  if (cpus === '' || machine === undefined) return;
  const online = bitSet(discoverCpus(machine()).cpus.keys());
  if (!isSubset(parseCpuSet(cpus), online))
    throw new ConfigError(`reserved-cpus: ${cpus} is not a subset of online-cpus: ${formatCpuSet(online)}`, {
      hint: 'change reservedSystemCPUs',
    });
}

/**
 * Adds the reserved resources to the node. Throws ConfigError if more is reserved than the node has
 * (validateNodeAllocatable), or CPUs that are not online.
 */
export function withReservations(node: NodeAndRuntime, values: ConfigValues): NodeAndRuntime {
  checkReservedCpus(node.node, values);
  const reservations = computeReservations(values, node.node);
  const {total, eviction} = reservations;
  const storageBytes = total.ephemeralStorageBytes + eviction.ephemeralStorageBytes;
  for (const [resource, reserved, capacity] of [
    ['cpu', total.cpuMilli, node.node.cpuMilli],
    ['memory', total.memoryBytes + eviction.memoryBytes, node.node.memoryBytes],
    ['ephemeral-storage', storageBytes, node.node.ephemeralStorageBytes],
  ] as const)
    // A resource without capacity, such as local storage that is not isolated, needs no reservation (GetNodeAllocatableReservation).
    if (capacity > 0n && reserved > capacity)
      throw new ConfigError(
        `invalid Node Allocatable configuration: ${resource} has a reservation of ${reserved}${unit(resource)} but a capacity of ${capacity}${unit(resource)}`,
        {hint: 'lower systemReserved, kubeReserved or evictionHard'},
      );
  return {...node, node: {...node.node, reservations}};
}

function unit(resource: string): string {
  return resource === 'cpu' ? 'm' : '';
}

function resourcesOf(reserved: ReservedMap): ReservedResources {
  return {
    cpuMilli: quantityMilliValue(reserved['cpu'] ?? '0'),
    memoryBytes: quantityValue(reserved['memory'] ?? '0'),
    ephemeralStorageBytes: quantityValue(reserved['ephemeral-storage'] ?? '0'),
    pids: quantityValue(reserved['pid'] ?? '0'),
  };
}

function sum(one: ReservedResources, other: ReservedResources): ReservedResources {
  return {
    cpuMilli: one.cpuMilli + other.cpuMilli,
    memoryBytes: one.memoryBytes + other.memoryBytes,
    ephemeralStorageBytes: one.ephemeralStorageBytes + other.ephemeralStorageBytes,
    pids: one.pids + other.pids,
  };
}

/**
 * Returns the limits of a cgroup: those of the resources that are reserved for it (getCgroupConfig). With memory QoS, the kernel
 * does not reclaim the memory either.
 */
function limitsOf(reserved: ReservedMap, protectsMemory: boolean): Partial<CgroupLimits> {
  const {memoryBytes, pids} = resourcesOf(reserved);
  return {
    ...cpuLimitOf(reserved),
    ...(reserved['memory'] !== undefined && {memoryBytes}),
    ...(reserved['memory'] !== undefined &&
      protectsMemory && {memoryFiles: {'memory.min': String(memoryBytes)}}),
    ...(reserved['pid'] !== undefined && {pids}),
  };
}

function cpuLimitOf(reserved: ReservedMap): Partial<CgroupLimits> {
  const {cpuMilli} = resourcesOf(reserved);
  return reserved['cpu'] === undefined ? {} : {cpuShares: milliCpuToShares(cpuMilli)};
}
