import type {Device as PluginDevice} from '../../../../plugin-api/gen/device-plugin/types.js';

/** Health of a device that containers may use. */
export const HEALTHY = 'Healthy';

/** A device, as its plugin has reported it last. */
export interface Device {
  readonly id: string;
  /** `Healthy`, or anything else. */
  readonly health: string;
  /** NUMA nodes; undefined for a device without topology. */
  readonly numaNodes: readonly number[] | undefined;
}

/** Devices of a resource by ID. */
export type Devices = ReadonlyMap<string, Device>;

/** Key of the devices without a NUMA node, in checkpoints too (nodeWithoutTopology). */
export const WITHOUT_NUMA_NODE = -1;

/** Returns the devices of a list by ID; of two with one ID, the last counts. */
export function indexDevices(list: readonly PluginDevice[]): Devices {
  return new Map(
    list.map(({ID: id, health, topology}) => [
      id,
      {id, health, numaNodes: topology?.nodes.map((node) => Number(node.ID))},
    ]),
  );
}

/** Returns the NUMA nodes of a device; that of devices without one otherwise. */
export function numaNodesOf(device: Device | undefined): readonly number[] {
  const nodes = device?.numaNodes ?? [];
  return nodes.length === 0 ? [WITHOUT_NUMA_NODE] : nodes;
}

/** Reports whether any of the devices belongs to a NUMA node: then all are allocated by NUMA node (deviceHasTopologyAlignment). */
export function haveTopology(devices: Devices): boolean {
  for (const {numaNodes = []} of devices.values()) if (numaNodes.length > 0) return true;
  return false;
}
