import {isRestartableInitContainer} from '../../../../api/pod-containers.js';
import {quantityValue} from '../../../../api/quantity.js';
import type {ResourceList} from '../../../../api/types/v1-meta.js';
import type {Container, Pod} from '../../../../api/types/v1-pod.js';
import {coalesce} from '../../../../base/async/coalesce.js';
import {messageOf, rethrowUnexpected, SystemError} from '../../../../base/errors.js';
import type {ContainerAllocateResponse} from '../../../../plugin-api/gen/device-plugin/types.js';
import {podRef} from '../../../contract/pod-ref.js';
import type {TopologyHint, TopologyHintProvider, TopologyHints} from '../../../contract/node-manager.js';
import {podResources} from '../../../resources/resource-amounts.js';
import {computeDeviceHints} from './device-hints.js';
import type {DeviceInventory, Endpoint} from './device-inventory.js';
import {numaNodesOf, type Devices} from './device.js';
import {PodDevices} from './pod-devices.js';
import type {PluginCalls} from './plugin-calls.js';
import {
  completeSelection,
  selectDevices,
  type DeviceRequest,
  type PreferenceQuestion,
} from './select-devices.js';

/** What DeviceAllocator works with. */
export interface DeviceAllocatorOptions {
  readonly inventory: DeviceInventory<PluginCalls>;
  /** NUMA nodes of the machine. */
  readonly numaNodes: readonly number[];
  /** Returns the pods that use resources of the node. */
  readonly activePods: () => readonly Pod[];
  readonly allSourcesReady: () => boolean;
  /** Reports whether the container ran when the kubelet started. */
  readonly ranAtStart: (uid: string, container: string) => boolean;
  /** Stores all allocations durably. Rejects with SystemError. */
  readonly save: () => Promise<void>;
  /** Called with the time that each Allocate took, in ms. */
  readonly onAllocated: (resource: string, startedAt: number) => void;
  readonly monotonic: () => number;
}

/** Where a container's devices come from. */
interface Place {
  /** Devices of the pod's init containers by resource. */
  readonly reusable: ReadonlyMap<string, ReadonlySet<string>>;
  /** Bit mask of NUMA nodes; undefined for any. */
  readonly affinity: bigint | undefined;
}

const NONE: ReadonlySet<string> = new Set();

/** Allocates devices to containers (ManagerImpl Allocate). */
export class DeviceAllocator implements TopologyHintProvider {
  readonly pods = new PodDevices();
  readonly #options: DeviceAllocatorOptions;
  /** Devices by resource that plugins are preparing. */
  readonly #pending = new Map<string, Set<string>>();
  /** Selections by resource, one after the other: a plugin that is asked must not let two containers have one device. */
  readonly #selecting = new Map<string, Promise<unknown>>();
  /** NUMA nodes that containers were admitted with; see allocateMissing. */
  readonly #affinities = new Map<string, Map<string, TopologyHint>>();
  /** Devices of init containers of the last pod by resource, which its later containers take first. */
  #reusable = {uid: '', ids: new Map<string, ReadonlySet<string>>()};
  /** Stores the allocations durably; callers that arrive meanwhile share the next time. Rejects with SystemError. */
  readonly save: () => Promise<void>;

  constructor(options: DeviceAllocatorOptions) {
    this.#options = options;
    this.save = coalesce(options.save);
  }

  /** Reports whether devices of the resource exist, or are in use. */
  isDeviceResource(resource: string): boolean {
    return this.#options.inventory.healthy(resource) !== undefined || this.#used().has(resource);
  }

  /** Returns the numbers of used devices by resource. */
  usedCounts(): ReadonlyMap<string, number> {
    return new Map([...this.#used()].map(([resource, ids]) => [resource, ids.size]));
  }

  podHints(pod: Pod): TopologyHints {
    this.forgetInactive();
    const {uid} = podRef(pod);
    return this.#hints(podResources({...pod, spec: {...pod.spec, resources: {}}}, 'limits'), (resource) => ({
      held: this.pods.podIds(uid, resource),
      reusable: NONE,
    }));
  }

  containerHints(pod: Pod, container: Container): TopologyHints {
    this.forgetInactive();
    const {uid} = podRef(pod);
    return this.#hints(container.resources?.limits, (resource) => ({
      held: this.pods.containerIds(uid, container.name, resource) ?? NONE,
      reusable: this.#reusableOf(uid).get(resource) ?? NONE,
    }));
  }

  #hints(
    limits: ResourceList | undefined,
    ofPod: (resource: string) => Readonly<Record<'held' | 'reusable', ReadonlySet<string>>>,
  ): TopologyHints {
    const {inventory, numaNodes} = this.#options;
    const used = this.#used();
    return new Map(
      this.#requests(limits).map(([resource, required]) => {
        const healthy = inventory.healthy(resource) ?? NONE;
        const available = new Set([...healthy].filter((id) => used.get(resource)?.has(id) !== true));
        const devices = inventory.devices(resource);
        const hints = computeDeviceHints({required, devices, available, numaNodes, ...ofPod(resource)});
        return [resource, hints];
      }),
    );
  }

  #requests(limits: ResourceList = {}): readonly (readonly [string, number])[] {
    return Object.entries(limits)
      .filter(([resource]) => this.isDeviceResource(resource))
      .map(([resource, amount]) => [resource, Number(quantityValue(amount))]);
  }

  #reusableOf(uid: string): ReadonlyMap<string, ReadonlySet<string>> {
    return this.#reusable.uid === uid ? this.#reusable.ids : new Map();
  }

  /** Allocates a container's devices, and stores that. Rejects with SystemError or CriError if they cannot be had. */
  async allocate(pod: Pod, container: Container, affinity: TopologyHint): Promise<void> {
    const {uid} = podRef(pod);
    if (this.#reusable.uid !== uid) this.#reusable = {uid, ids: new Map()};
    const {ids} = this.#reusable;
    if (affinity.numaNodes !== undefined) {
      const ofPod = this.#affinities.get(uid) ?? new Map<string, TopologyHint>();
      this.#affinities.set(uid, ofPod.set(container.name, affinity));
    }
    await this.#allocateAll(uid, container, {reusable: ids, affinity: affinity.numaNodes});
    const isReusable =
      pod.spec.initContainers?.some(({name}) => name === container.name) === true &&
      !isRestartableInitContainer(container);
    for (const resource of this.pods.container(uid, container.name).keys()) {
      const own = this.pods.containerIds(uid, container.name, resource) ?? NONE;
      const others = [...(ids.get(resource) ?? NONE)].filter((id) => !own.has(id));
      ids.set(resource, new Set(isReusable ? [...others, ...own] : others));
    }
  }

  /** Allocates what a container lacks that is about to start: it ran, and had its devices, when the kubelet was restarted. */
  async allocateMissing(pod: Pod, container: Container): Promise<void> {
    const affinity = this.#affinities.get(podRef(pod).uid)?.get(container.name);
    await this.allocate(pod, container, affinity ?? {numaNodes: undefined, preferred: false});
  }

  async #allocateAll(uid: string, {name, resources}: Container, place: Place): Promise<void> {
    const requests = this.#requests(resources?.limits);
    if (requests.length > 0) this.forgetInactive();
    let isChanged = false;
    for (const [resource, required] of requests) {
      const selected = await this.#inTurn(resource, () =>
        this.#select({
          uid,
          container: name,
          resource,
          required,
          ...this.#stateOf(uid, name, resource, place),
        }),
      );
      if (selected.length === 0) continue;
      isChanged = true;
      try {
        const response = await this.#callAllocate(resource, selected);
        const devices = groupByNode(selected, this.#options.inventory.devices(resource));
        this.pods.insert({uid, container: name, resource, devices, response});
      } finally {
        const pending = this.#pending.get(resource);
        for (const id of selected) pending?.delete(id);
      }
    }
    if (isChanged) await this.save();
  }

  #stateOf(
    uid: string,
    container: string,
    resource: string,
    {reusable, affinity}: Place,
  ): Omit<DeviceRequest, 'uid' | 'container' | 'resource' | 'required'> {
    const {inventory, allSourcesReady, ranAtStart} = this.#options;
    return {
      held: this.pods.containerIds(uid, container, resource),
      reusable: reusable.get(resource) ?? NONE,
      devices: inventory.devices(resource),
      healthy: inventory.healthy(resource),
      used: this.#used().get(resource) ?? NONE,
      isRunning: !allSourcesReady() && ranAtStart(uid, container),
      affinity,
    };
  }

  /** Selects devices and reserves them, so that no other container gets them. */
  async #select(request: DeviceRequest): Promise<readonly string[]> {
    const {resource} = request;
    const selection = selectDevices(request);
    let ids: readonly string[];
    if (selection.kind === 'selected') ({ids} = selection);
    else {
      const {question} = selection;
      const asks = this.#endpoint(resource).plugin?.getPreferred !== undefined;
      const preferred = asks ? await this.#askPreferred(resource, question) : [];
      ids = completeSelection(question, preferred);
    }
    const pending = this.#pending.get(resource) ?? new Set();
    for (const id of ids) pending.add(id);
    this.#pending.set(resource, pending);
    return ids;
  }

  async #askPreferred(resource: string, question: PreferenceQuestion): Promise<readonly string[]> {
    const {getPreferred = async () => []} = this.runningPlugin(resource);
    return await prefixErrors('GetPreferredAllocation', getPreferred(question));
  }

  async #callAllocate(resource: string, ids: readonly string[]): Promise<ContainerAllocateResponse> {
    const {inventory, monotonic, onAllocated} = this.#options;
    if (inventory.endpoint(resource) === undefined)
      throw new SystemError(`unknown Device Plugin ${resource}`);
    const startedAt = monotonic();
    try {
      return await this.runningPlugin(resource).allocate(ids);
    } finally {
      onAllocated(resource, startedAt);
    }
  }

  /** Calls PreStartContainer before a start of the container, if the plugin wants it (callPreStartContainerIfNeeded). */
  async preStart(uid: string, container: string, resource: string): Promise<void> {
    const {plugin} = this.#endpoint(resource);
    if (plugin?.needsPreStart !== true) return;
    const ids = this.pods.containerIds(uid, container, resource);
    if (ids === undefined)
      throw new SystemError(
        `no devices found allocated in local cache for pod ${uid}, container ${container}, resource ${resource}`,
      );
    await prefixErrors('PreStartContainer', this.runningPlugin(resource).preStart([...ids]));
  }

  #endpoint(resource: string): Endpoint<PluginCalls> {
    const endpoint = this.#options.inventory.endpoint(resource);
    if (endpoint === undefined)
      throw new SystemError(`endpoint not found in cache for a registered resource: ${resource}`);
    return endpoint;
  }

  /** Returns the plugin of a resource. Throws SystemError if it has ended. */
  runningPlugin(resource: string): PluginCalls {
    const {plugin, stoppedAt} = this.#endpoint(resource);
    if (plugin === undefined || stoppedAt !== undefined)
      throw new SystemError(`endpoint ${resource} has been stopped`, {
        hint: 'start the device plugin of the resource',
      });
    return plugin;
  }

  /** Frees the devices of pods that are not active any more, once all sources are ready (UpdateAllocatedDevices). */
  forgetInactive(): void {
    const {activePods, allSourcesReady} = this.#options;
    if (!allSourcesReady()) return;
    const uids = [...new Set([...this.pods.uids(), ...this.#affinities.keys()])];
    if (uids.length === 0) return;
    const active = new Set<string>(activePods().map((pod) => podRef(pod).uid));
    for (const uid of uids.filter((each) => !active.has(each))) {
      this.pods.delete(uid);
      this.#affinities.delete(uid);
    }
  }

  /** Returns the devices in use by resource, also those that plugins are preparing. */
  #used(): ReadonlyMap<string, ReadonlySet<string>> {
    const used = this.pods.usedIds();
    for (const [resource, ids] of this.#pending)
      if (ids.size > 0) used.set(resource, new Set([...(used.get(resource) ?? []), ...ids]));
    return used;
  }

  /** Runs a selection after the earlier ones of the resource. */
  async #inTurn<T>(resource: string, select: () => Promise<T>): Promise<T> {
    const before = this.#selecting.get(resource) ?? Promise.resolve();
    const own = before.then(select);
    const ended = own.then(
      () => undefined,
      () => undefined, // the caller handles it
    );
    this.#selecting.set(resource, ended);
    try {
      return await own;
    } finally {
      if (this.#selecting.get(resource) === ended) this.#selecting.delete(resource);
    }
  }
}

/** Returns the devices by NUMA node. */
function groupByNode(ids: readonly string[], devices: Devices): ReadonlyMap<number, readonly string[]> {
  const groups = new Map<number, string[]>();
  for (const id of ids)
    for (const node of numaNodesOf(devices.get(id))) {
      const group = groups.get(node);
      if (group === undefined) groups.set(node, [id]);
      else group.push(id);
    }
  return groups;
}

async function prefixErrors<T>(rpc: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (cause) {
    rethrowUnexpected(cause);
    throw new SystemError(`device plugin ${rpc} rpc failed with err: ${messageOf(cause)}`, {cause});
  }
}
