import type {
  CounterSet,
  DeviceCounterConsumption,
  OfferedDevice,
  ResourceSlice,
  ResourceSliceSpec,
} from '../../../../api/types/v1-device-resources.js';
import type {AllocationNode} from './allocation-types.js';
import {deviceKey, type DeviceId} from './device-id.js';

/** A device of a pool, and the slice that offers it. */
export interface PoolDevice {
  readonly id: DeviceId;
  /** The identity as a text. */
  readonly key: string;
  readonly device: OfferedDevice;
  readonly slice: ResourceSliceSpec;
}

/** Devices of a driver that belong together (Pool). */
export interface DevicePool {
  readonly driver: string;
  readonly name: string;
  /** Why no device can be taken from the pool now. */
  readonly problem?: {readonly kind: 'incomplete' | 'invalid'; readonly text: string};
  /** Devices that this node can use, in the order in which they are tried. */
  readonly devices: readonly PoolDevice[];
  /** All devices of the pool: others may use its counters too. */
  readonly allDevices: readonly OfferedDevice[];
  readonly counterSets: ReadonlyMap<string, CounterSet>;
}

/** Returns whether a slice or a device is for the node (NodeMatches). */
export function isForNode(
  {nodeName, allNodes, nodeSelector}: Pick<OfferedDevice, 'nodeName' | 'allNodes' | 'nodeSelector'>,
  node: AllocationNode,
): boolean {
  if (nodeName !== undefined && nodeName !== '') return nodeName === node.name;
  if (allNodes === true) return true;
  return nodeSelector !== undefined && node.matches(nodeSelector);
}

/**
 * Returns the pools with devices for the node, sorted by driver and name; those with binding conditions come last. Slices of
 * older generations are ignored (GatherPools).
 */
export function gatherPools(slices: readonly ResourceSlice[], node: AllocationNode): readonly DevicePool[] {
  const keys = new Map(slices.map(({spec: {driver, pool}}) => [`${driver}/${pool.name}`, {driver, pool}]));
  const pools = [...keys.values()].flatMap(({driver, pool}) => {
    const all = slices.filter((slice) => slice.spec.driver === driver && slice.spec.pool.name === pool.name);
    return buildPool(driver, pool.name, all, node) ?? [];
  });
  const sorted = pools.sort((a, b) => compare(a.driver, b.driver) || compare(a.name, b.name));
  return [...sorted.filter((one) => !bindsLater(one)), ...sorted.filter(bindsLater)];
}

function bindsLater({devices}: DevicePool): boolean {
  return devices.some(({device}) => device.bindingConditions !== undefined);
}

/** Compares as Go does, by code units. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns a pool; undefined if none of its devices is for the node. */
function buildPool(
  driver: string,
  name: string,
  slices: readonly ResourceSlice[],
  node: AllocationNode,
): DevicePool | undefined {
  const generation = Math.max(...slices.map(generationOf));
  const current = slices.filter((slice) => generationOf(slice) === generation);
  const relevant = current.filter(({spec}) => isRelevant(spec, node));
  const [first] = relevant;
  if (first === undefined) return undefined;
  const wanted = first.spec.pool.resourceSliceCount;
  const sorted = relevant.toSorted((a, b) => compare(a.metadata.name ?? '', b.metadata.name ?? ''));
  const counterSets = new Map(
    current.flatMap(({spec}) => (spec.sharedCounters ?? []).map((set) => [set.name, set] as const)),
  );
  const allDevices = current.flatMap(({spec}) => spec.devices ?? []);
  const fault = findFault(sorted, current, counterSets);
  const problem: DevicePool['problem'] =
    current.length !== wanted
      ? {kind: 'incomplete', text: `${current.length} of ${wanted} ResourceSlices are known`}
      : fault === undefined
        ? undefined
        : {kind: 'invalid', text: fault};
  const devices = sorted.flatMap(({spec}) =>
    (spec.devices ?? []).map((device) => {
      const id = {driver, pool: name, device: device.name};
      return {id, key: deviceKey(id), device, slice: spec};
    }),
  );
  return {driver, name, counterSets, allDevices, devices, ...(problem && {problem})};
}

function generationOf({spec}: ResourceSlice): number {
  return spec.pool.generation ?? 0;
}

function isRelevant(spec: ResourceSliceSpec, node: AllocationNode): boolean {
  // Counters are needed by the devices of other slices.
  if ((spec.sharedCounters ?? []).length > 0) return true;
  if (spec.perDeviceNodeSelection === true)
    return (spec.devices ?? []).some((device) => isForNode(device, node));
  return isForNode(spec, node);
}

/** Returns what makes a pool invalid; undefined if nothing does. */
function findFault(
  relevant: readonly ResourceSlice[],
  all: readonly ResourceSlice[],
  counterSets: ReadonlyMap<string, CounterSet>,
): string | undefined {
  const seen = new Set<string>();
  for (const {name} of relevant.flatMap(devicesOf)) {
    if (seen.has(name)) return `duplicate device name ${name}`;
    seen.add(name);
  }
  const sets = all.flatMap(({spec}) => spec.sharedCounters ?? []);
  if (sets.length > counterSets.size) return 'duplicate counter set name';
  return all
    .flatMap(devicesOf)
    .flatMap(({consumesCounters = []}) => consumesCounters)
    .map((consumption) => findCounterFault(consumption, counterSets))
    .find((fault) => fault !== undefined);
}

function devicesOf({spec}: ResourceSlice): readonly OfferedDevice[] {
  return spec.devices ?? [];
}

/** Returns which counter of a device its pool lacks (validateDeviceCounterConsumption). */
function findCounterFault(
  {counterSet, counters = {}}: DeviceCounterConsumption,
  counterSets: ReadonlyMap<string, CounterSet>,
): string | undefined {
  const set = counterSets.get(counterSet);
  if (set === undefined) return `counter set ${counterSet} not found`;
  const missing = Object.keys(counters).find((counter) => set.counters?.[counter] === undefined);
  return missing && `counter ${missing} not found in counter set ${counterSet}`;
}
