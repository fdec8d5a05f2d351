import type {TopologyHint} from '../../../contract/node-manager.js';
import {bitSet, countMembers, unite, type BitSet} from '../../../resources/bit-set.js';
import {numaCombinations} from '../../../resources/numa-nodes.js';
import {haveTopology, type Device, type Devices} from './device.js';

/** A request of a resource, and the devices that could serve it. */
export interface HintRequest {
  readonly required: number;
  readonly devices: Devices;
  /** Healthy devices that no container uses. */
  readonly available: ReadonlySet<string>;
  /** Devices that the containers of the pod have already; empty if they have none. */
  readonly held: ReadonlySet<string>;
  /** Devices of the pod's init containers that a later container takes first. */
  readonly reusable: ReadonlySet<string>;
  /** NUMA nodes of the machine. */
  readonly numaNodes: readonly number[];
}

/**
 * Returns the sets of NUMA nodes that the devices can be taken from, the smallest first; undefined if the devices have no
 * topology, and none if there are too few (GetTopologyHints).
 */
export function computeDeviceHints(request: HintRequest): readonly TopologyHint[] | undefined {
  const {required, devices, available, held, reusable} = request;
  if (!haveTopology(devices)) return undefined;
  // Devices that were allocated before a restart give the hints that led to them.
  if (held.size > 0)
    return held.size === required ? hintsOf({...request, available: held, reusable: NONE}) : [];
  if (new Set([...available, ...reusable]).size < required) return [];
  return hintsOf(request);
}

const NONE: ReadonlySet<string> = new Set();

/** Returns the hints of NUMA nodes with enough devices (generateDeviceTopologyHints). */
function hintsOf({required, devices, available, reusable, numaNodes}: HintRequest): readonly TopologyHint[] {
  const all = tally([...devices.values()].map(nodesOf));
  const nodes = nodesWithDevices(all, numaNodes);
  const free = tally([...available].map((id) => nodesOf(devices.get(id))));
  // Reusable devices without topology fit everywhere, and count nowhere.
  const pinned = [...reusable].flatMap((id) => {
    const device = devices.get(id);
    return device?.numaNodes === undefined ? [] : [nodesOf(device)];
  });
  const reused = tally(pinned);
  const masks = numaCombinations(nodes);
  const smallest = masks.find((mask) => countIn(all, mask) >= required);
  const preferredSize = smallest === undefined ? nodes.length : countMembers(smallest);
  return masks
    .filter(
      (mask) => countIn(reused, mask) === pinned.length && pinned.length + countIn(free, mask) >= required,
    )
    .map((mask) => ({numaNodes: mask, preferred: countMembers(mask) === preferredSize}));
}

function nodesOf(device: Device | undefined): BitSet {
  return bitSet((device?.numaNodes ?? []).filter((node) => node >= 0 && node < MAX_NUMA_NODES));
}

/** NUMA nodes of a bit mask in a kubelet; devices of others do not exist for it. */
const MAX_NUMA_NODES = 64;

/** Returns the NUMA nodes of the machine with devices, in ascending order; all of the machine if there is none (deviceNUMANodes). */
function nodesWithDevices(devices: Tally, numaNodes: readonly number[]): readonly number[] {
  const union = unite(devices.keys());
  const own = numaNodes.filter((node) => (union & bitSet([node])) !== 0n).toSorted((a, b) => a - b);
  return own.length === 0 ? numaNodes : own;
}

/** Numbers of devices by their NUMA nodes: there may be thousands of devices, but few kinds. */
type Tally = ReadonlyMap<BitSet, number>;

function tally(devices: readonly BitSet[]): Tally {
  const counts = new Map<BitSet, number>();
  for (const nodes of devices) counts.set(nodes, (counts.get(nodes) ?? 0) + 1);
  return counts;
}

function countIn(devices: Tally, mask: BitSet): number {
  let count = 0;
  for (const [nodes, number] of devices) if ((nodes & mask) !== 0n) count += number;
  return count;
}
