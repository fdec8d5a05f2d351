import type {ContainerAllocateResponse} from '../../../../plugin-api/gen/device-plugin/types.js';

/** Devices of one resource that a container has. */
export interface DeviceAllocation {
  /** IDs by NUMA node; a device of several nodes is listed in each. */
  readonly devices: ReadonlyMap<number, readonly string[]>;
  /** Answer of the plugin: what the container needs to use them. */
  readonly response: ContainerAllocateResponse;
}

/** Allocations of a container by resource. */
export type ContainerDevices = ReadonlyMap<string, DeviceAllocation>;

/** An allocation and its owner. */
export interface OwnedAllocation extends DeviceAllocation {
  readonly uid: string;
  readonly container: string;
  readonly resource: string;
}

/** Devices of all containers (podDevices). */
export class PodDevices {
  readonly #pods = new Map<string, Map<string, Map<string, DeviceAllocation>>>();

  /** Returns the UIDs of pods with devices. */
  uids(): readonly string[] {
    return [...this.#pods.keys()];
  }

  insert({uid, container, resource, devices, response}: OwnedAllocation): void {
    const containers = getOrAdd(this.#pods, uid, () => new Map<string, Map<string, DeviceAllocation>>());
    const resources = getOrAdd(containers, container, () => new Map<string, DeviceAllocation>());
    resources.set(resource, {devices, response});
  }

  delete(uid: string): void {
    this.#pods.delete(uid);
  }

  clear(): void {
    this.#pods.clear();
  }

  container(uid: string, container: string): ContainerDevices {
    return this.#pods.get(uid)?.get(container) ?? new Map();
  }

  /** Returns the IDs of a container; undefined if it has not been given any. */
  containerIds(uid: string, container: string, resource: string): ReadonlySet<string> | undefined {
    const allocation = this.container(uid, container).get(resource);
    return allocation && idsOf(allocation);
  }

  /** Returns the IDs of all containers of a pod. */
  podIds(uid: string, resource: string): ReadonlySet<string> {
    return new Set(
      [...(this.#pods.get(uid)?.values() ?? [])].flatMap((resources) => {
        const allocation = resources.get(resource);
        return allocation === undefined ? [] : [...idsOf(allocation)];
      }),
    );
  }

  /** Returns the IDs in use by resource. */
  usedIds(): Map<string, Set<string>> {
    const used = new Map<string, Set<string>>();
    for (const allocation of this.all()) {
      const ids = getOrAdd(used, allocation.resource, () => new Set<string>());
      for (const id of idsOf(allocation)) ids.add(id);
    }
    return used;
  }

  /** Returns the UIDs of the pods that use each device, whatever its resource: health updates are found by ID alone. */
  usersByDevice(): ReadonlyMap<string, string> {
    const users = new Map<string, string>();
    for (const allocation of this.all()) for (const id of idsOf(allocation)) users.set(id, allocation.uid);
    return users;
  }

  *all(): Generator<OwnedAllocation> {
    for (const [uid, containers] of this.#pods)
      for (const [container, resources] of containers)
        for (const [resource, allocation] of resources) yield {uid, container, resource, ...allocation};
  }
}

/** Returns the IDs of an allocation, each once. */
export function idsOf({devices}: Pick<DeviceAllocation, 'devices'>): ReadonlySet<string> {
  return new Set([...devices.values()].flat());
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const added = create();
  map.set(key, added);
  return added;
}
