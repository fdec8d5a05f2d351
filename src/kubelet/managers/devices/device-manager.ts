import {quantityValue} from '../../../api/quantity.js';
import type {ResourceStatus} from '../../../api/types/v1-status.js';
import type {Container, Pod} from '../../../api/types/v1-pod.js';
import {runInBackground} from '../../../base/async/background-work.js';
import type {Clock} from '../../../base/clock.js';
import {isExpectedError} from '../../../base/errors.js';
import type {FileLogger} from '../../../base/logger.js';
import type {Device as PluginDevice} from '../../../plugin-api/gen/device-plugin/types.js';
import type {ContainerOptions} from '../../contract/node-manager.js';
import {podRef} from '../../contract/pod-ref.js';
import type {DeviceUse} from '../../contract/resources/device-use.js';
import {HEALTHY, WITHOUT_NUMA_NODE} from './core/device.js';
import {DeviceAllocator, type DeviceAllocatorOptions} from './core/device-allocator.js';
import {formatDeviceCheckpoint, parseDeviceCheckpoint} from './core/device-checkpoint.js';
import {DeviceInventory, type DeviceCapacity} from './core/device-inventory.js';
import {mergeDeviceOptions} from './core/device-options.js';
import type {PluginCalls} from './core/plugin-calls.js';
import {idsOf} from './core/pod-devices.js';

/** What DeviceManager works with. */
export interface DeviceManagerOptions extends Pick<
  DeviceAllocatorOptions,
  'numaNodes' | 'activePods' | 'allSourcesReady' | 'ranAtStart'
> {
  readonly clock: Clock;
  readonly logger: FileLogger;
  /** Replaces the checkpoint durably. Rejects with SystemError. */
  readonly writeCheckpoint: (text: string) => Promise<void>;
  /** Called with the UIDs of pods whose devices have another health. */
  readonly onHealthChanged: (uids: readonly string[]) => void;
  /** Called with the duration of each Allocate, in ms. */
  readonly onAllocated: (resource: string, ms: number) => void;
}

/** Manages the devices of the node, their plugins and the containers that use them (devicemanager ManagerImpl). */
export class DeviceManager {
  readonly allocator: DeviceAllocator;
  readonly #options: DeviceManagerOptions;
  readonly #inventory = new DeviceInventory<PluginCalls>();

  constructor(options: DeviceManagerOptions) {
    const {clock, onAllocated} = options;
    this.#options = options;
    this.allocator = new DeviceAllocator({
      ...options,
      inventory: this.#inventory,
      save: () => options.writeCheckpoint(this.#format()),
      onAllocated: (resource, startedAt) => {
        onAllocated(resource, clock.monotonic() - startedAt);
      },
      monotonic: () => clock.monotonic(),
    });
  }

  #format(): string {
    const registered = this.#inventory.registered();
    return formatDeviceCheckpoint({allocations: [...this.allocator.pods.all()], registered});
  }

  /** Restores the state of an earlier kubelet. Throws SystemError for a checkpoint that cannot be used. */
  restore(text: string): void {
    const {clock, logger} = this.#options;
    const {allocations, registered, unreadable} = parseDeviceCheckpoint(text);
    for (const {uid: podUid, container: containerName, resource: resourceName} of unreadable)
      logger.error(undefined, "Can't unmarshal allocResp", {podUid, containerName, resourceName});
    for (const allocation of allocations) this.allocator.pods.insert(allocation);
    for (const resource of registered.keys()) this.#inventory.restore(resource, clock.monotonic());
  }

  /** Sets the plugin of a resource; its devices follow with `update`. */
  connect(resource: string, plugin: PluginCalls): void {
    this.#inventory.connect(resource, plugin);
    this.#options.logger.info('Device plugin connected', {resourceName: resource}, 2);
  }

  /** Makes the devices of a resource unhealthy, since its plugin has ended. */
  disconnect(resource: string): void {
    const {clock, logger} = this.#options;
    if (this.#inventory.disconnect(resource, clock.monotonic()))
      logger.info('Endpoint became unhealthy', {resourceName: resource}, 2);
  }

  /** Replaces the devices of a resource, and stores which are healthy. Never rejects. */
  async update(resource: string, devices: readonly PluginDevice[]): Promise<void> {
    const {logger, onHealthChanged} = this.#options;
    const news = this.#inventory.update(resource, devices);
    const users = this.allocator.pods.usersByDevice();
    const uids = [...new Set(news.flatMap((id) => users.get(id) ?? []))];
    if (uids.length > 0) onHealthChanged(uids);
    await this.#storeOrLog();
    logger.info(
      'Processed device updates for resource',
      {resourceName: resource, totalCount: devices.length},
      2,
    );
  }

  async #storeOrLog(): Promise<void> {
    try {
      await this.allocator.save();
    } catch (error) {
      if (!isExpectedError(error)) throw error;
      this.#options.logger.error(error, 'Writing checkpoint encountered');
    }
  }

  /** Returns the devices for the node status. A resource whose plugin was away for too long is deleted with this call. */
  takeCapacity(): DeviceCapacity {
    const capacity = this.#inventory.takeCapacity(this.#options.clock.monotonic());
    if (capacity.deleted.length > 0) runInBackground('device manager', this.#storeOrLog());
    return capacity;
  }

  /**
   * Resolves with what a new container needs to use its devices, after calling PreStartContainer; undefined without devices
   * (GetDeviceRunContainerOptions). Rejects with SystemError or CriError if it must not start.
   */
  async containerOptions(pod: Pod, container: Container): Promise<ContainerOptions | undefined> {
    const {uid} = podRef(pod);
    const resources = Object.entries(container.resources?.limits ?? {})
      .filter(
        ([resource, amount]) => this.allocator.isDeviceResource(resource) && quantityValue(amount) !== 0n,
      )
      .map(([resource]) => resource);
    if (resources.length === 0) return undefined;
    for (const resource of resources) await this.allocator.preStart(uid, container.name, resource);
    const own = this.allocator.pods.container(uid, container.name);
    if (this.#isActive(uid) && resources.some((resource) => !own.has(resource)))
      await this.allocator.allocateMissing(pod, container);
    const answers = [...this.allocator.pods.container(uid, container.name).values()];
    const {options, conflicts} = mergeDeviceOptions(answers.map(({response}) => response));
    for (const {what, ...values} of conflicts)
      this.#options.logger.error(undefined, `Device plugins disagree about the ${what} of a container`, {
        containerName: container.name,
        ...values,
      });
    return options;
  }

  #isActive(uid: string): boolean {
    return this.#options.activePods().some((pod) => podRef(pod).uid === uid);
  }

  /** Returns the health of a container's devices for its status (UpdateAllocatedResourcesStatus). */
  resourceStatus(uid: string, container: string): readonly ResourceStatus[] {
    return [...this.allocator.pods.container(uid, container)].map(([name, allocation]) => ({
      name,
      resources: [...idsOf(allocation)].map((resourceID) => ({
        resourceID,
        health: this.#isHealthy(name, resourceID) ? 'Healthy' : 'Unhealthy',
      })),
    }));
  }

  #isHealthy(resource: string, id: string): boolean {
    return (this.#inventory.devices(resource).get(id)?.health ?? HEALTHY) === HEALTHY;
  }

  /** Returns the devices of a container (GetDevices). */
  devicesOf(uid: string, container: string): readonly DeviceUse[] {
    return [...this.allocator.pods.container(uid, container)].flatMap(([resource, {devices}]) => {
      const nodes = new Map<string, number[]>();
      for (const [node, ids] of devices)
        for (const id of ids)
          nodes.set(id, [...(nodes.get(id) ?? []), ...(node === WITHOUT_NUMA_NODE ? [] : [node])]);
      return [...nodes].map(([id, numaNodes]) => ({resource, id, numaNodes}));
    });
  }

  /** Returns the healthy devices of the node, used or not (GetAllocatableDevices). */
  allocatableDevices(): readonly DeviceUse[] {
    return [...this.#inventory.registered()].flatMap(([resource, ids]) =>
      ids.map((id) => ({
        resource,
        id,
        numaNodes: this.#inventory.devices(resource).get(id)?.numaNodes ?? [],
      })),
    );
  }
}
