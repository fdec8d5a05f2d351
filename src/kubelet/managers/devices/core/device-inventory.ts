import {HEALTHY, indexDevices, type Devices} from './device.js';
import type {Device as PluginDevice} from '../../../../plugin-api/gen/device-plugin/types.js';

/** Time for which a resource stays in the node status after its plugin has ended, in ms (endpointStopGracePeriod). */
export const STOP_GRACE_MS = 5 * 60_000;

/** Plugin of a resource. */
export interface Endpoint<Plugin> {
  /** Undefined until the plugin has registered with this kubelet. */
  readonly plugin: Plugin | undefined;
  /** Time at which the plugin ended, or the kubelet started without it, in ms of the monotonic clock. */
  readonly stoppedAt?: number;
}

/** Devices and plugin of a resource. */
interface ResourceState {
  readonly healthy: ReadonlySet<string>;
  readonly unhealthy: ReadonlySet<string>;
}

/** Numbers of devices, as the node status shows them. */
export interface DeviceCapacity {
  readonly capacity: ReadonlyMap<string, number>;
  readonly allocatable: ReadonlyMap<string, number>;
  /** Resources whose plugin has been away for too long; each is returned once. */
  readonly deleted: readonly string[];
}

const NO_DEVICES: Devices = new Map();
const NONE: ReadonlySet<string> = new Set();

/** Resources, their plugins and devices (ManagerImpl endpoints, allDevices, healthyDevices and unhealthyDevices). */
export class DeviceInventory<Plugin> {
  readonly #endpoints = new Map<string, Endpoint<Plugin>>();
  /** Last known devices; they survive the plugin and its resource. */
  readonly #devices = new Map<string, Devices>();
  readonly #states = new Map<string, ResourceState>();

  /** Adds a resource of an earlier kubelet, whose plugin has to register again. */
  restore(resource: string, now: number): void {
    this.#states.set(resource, {healthy: NONE, unhealthy: NONE});
    this.#endpoints.set(resource, {plugin: undefined, stoppedAt: now});
  }

  /** Sets the plugin of a resource, in the place of an earlier one. Its devices follow. */
  connect(resource: string, plugin: Plugin): void {
    this.#endpoints.set(resource, {plugin});
  }

  /** Makes all devices of a resource unhealthy, since its plugin has ended. Returns whether it had one. */
  disconnect(resource: string, now: number): boolean {
    const endpoint = this.#endpoints.get(resource);
    if (endpoint === undefined) return false;
    const {healthy, unhealthy} = this.#states.get(resource) ?? {healthy: NONE, unhealthy: NONE};
    this.#states.set(resource, {healthy: NONE, unhealthy: new Set([...unhealthy, ...healthy])});
    this.#endpoints.set(resource, {plugin: endpoint.plugin, stoppedAt: now});
    return true;
  }

  /**
   * Replaces the devices of a resource (genericDeviceUpdateCallback). Returns the IDs whose health is news: changed, or of a
   * device that was not listed before.
   */
  update(resource: string, list: readonly PluginDevice[]): readonly string[] {
    const before = this.devices(resource);
    const devices = indexDevices(list);
    this.#devices.set(resource, devices);
    const idsWhere = (isHealthy: boolean): ReadonlySet<string> =>
      new Set(
        [...devices.values()].filter(({health}) => (health === HEALTHY) === isHealthy).map(({id}) => id),
      );
    this.#states.set(resource, {healthy: idsWhere(true), unhealthy: idsWhere(false)});
    return [...devices.values()]
      .filter(({id, health}) => before.get(id)?.health !== health)
      .map(({id}) => id);
  }

  /** Returns the devices that a resource had last. */
  devices(resource: string): Devices {
    return this.#devices.get(resource) ?? NO_DEVICES;
  }

  /** Returns the IDs of healthy devices; undefined for a resource that is not registered. */
  healthy(resource: string): ReadonlySet<string> | undefined {
    return this.#states.get(resource)?.healthy;
  }

  endpoint(resource: string): Endpoint<Plugin> | undefined {
    return this.#endpoints.get(resource);
  }

  /** Returns the registered resources, with their healthy devices. */
  registered(): ReadonlyMap<string, readonly string[]> {
    return new Map([...this.#states].map(([resource, {healthy}]) => [resource, [...healthy]]));
  }

  /** Counts the devices, and forgets the resources whose plugin has been away for too long (GetCapacity). */
  takeCapacity(now: number): DeviceCapacity {
    const deleted = [...this.#states.keys()].filter((resource) => {
      const {stoppedAt} = this.#endpoints.get(resource) ?? {stoppedAt: Number.NEGATIVE_INFINITY};
      return stoppedAt !== undefined && now - stoppedAt > STOP_GRACE_MS;
    });
    for (const resource of deleted) {
      this.#endpoints.delete(resource);
      this.#states.delete(resource);
    }
    const states = [...this.#states];
    return {
      capacity: new Map(states.map(([name, {healthy, unhealthy}]) => [name, healthy.size + unhealthy.size])),
      allocatable: new Map(states.map(([name, {healthy}]) => [name, healthy.size])),
      deleted,
    };
  }
}
