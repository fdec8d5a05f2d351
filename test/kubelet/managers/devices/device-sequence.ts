import {isDeepStrictEqual} from 'node:util';
import {containersOf} from '../../../../src/api/pod-containers.js';
import type {Container, Pod} from '../../../../src/api/types/v1-pod.js';
import {KcriError, messageOf, SystemError} from '../../../../src/base/errors.js';
import {isObject} from '../../../../src/base/is-object.js';
import type {TopologyHintProvider, TopologyHints} from '../../../../src/kubelet/contract/node-manager.js';
import type {DeviceUse} from '../../../../src/kubelet/contract/resources/device-use.js';
import {parseDeviceCheckpoint} from '../../../../src/kubelet/managers/devices/core/device-checkpoint.js';
import type {PluginCalls} from '../../../../src/kubelet/managers/devices/core/plugin-calls.js';
import {DeviceManager} from '../../../../src/kubelet/managers/devices/device-manager.js';
import {TopologyManager} from '../../../../src/kubelet/managers/topology/topology-manager.js';
import {createTopologyPolicy} from '../../../../src/kubelet/managers/topology/topology-policy.js';
import {NodeManagerSet} from '../../../../src/kubelet/pods/node-managers/node-manager-set.js';
import {SILENT_LOGGER} from '../../../../src/base/logger.js';
import type {Device as PluginDevice} from '../../../../src/plugin-api/gen/device-plugin/types.js';
import {FakeClock} from '../../../fakes/fake-clock.js';
import {shownHint} from '../topology/oracle-hints.js';

interface OracleDevice {
  readonly id: string;
  readonly health: string;
  readonly numa: readonly number[] | null;
}

interface OracleResource {
  readonly devices: readonly OracleDevice[];
  readonly preferredAllocation?: 'first' | 'last';
  readonly preStartRequired?: boolean;
}

interface SequenceConfig {
  readonly numaNodes: number;
  readonly resources: Readonly<Record<string, OracleResource>>;
  readonly topologyManagerPolicy: string;
  readonly topologyManagerScope: string;
}

/** A step, with what the kubelet's device manager showed after it. */
interface SequenceStep {
  readonly op: string;
  readonly resource?: string;
  readonly devices?: readonly OracleDevice[] | null;
  readonly pod?: Pod | string;
  readonly container?: string;
  readonly sourcesReady?: boolean;
  readonly runningContainers?: readonly string[];
  readonly message?: string;
  readonly allocatableDevices: Readonly<Record<string, readonly string[]>>;
}

/** A history of a device manager from the oracle device-sequences. */
export interface SequenceCase {
  readonly id: string;
  readonly config: SequenceConfig;
  readonly steps: readonly SequenceStep[];
  readonly checkpointFile?: string;
}

const INPUTS = ['op', 'resource', 'devices', 'pod', 'container', 'sourcesReady', 'runningContainers'];
const FIVE_MINUTES_MS = 5 * 60_000;
const SIGNAL = new AbortController().signal;

/** Runs a history on a device manager behind a topology manager, with stand-ins for the plugins. */
export class DeviceSequence {
  readonly #config: SequenceConfig;
  readonly #clock = new FakeClock();
  #manager: DeviceManager;
  #file = '';
  #active = new Map<string, Pod>();
  #sourcesReady = true;
  #calls: object[] = [];
  #hints: object[] = [];
  #updated: readonly string[] = [];
  #failing = '';

  constructor(config: SequenceConfig) {
    this.#config = config;
    this.#manager = this.#start([]);
  }

  #start(running: readonly string[]): DeviceManager {
    return new DeviceManager({
      numaNodes: Array.from({length: this.#config.numaNodes}, (_, node) => node),
      activePods: () => [...this.#active.values()],
      allSourcesReady: () => this.#sourcesReady,
      ranAtStart: (uid, container) => running.includes(`${uid.replace('uid-', '')}/${container}`),
      clock: this.#clock,
      logger: SILENT_LOGGER.forFile('device-manager.ts'),
      writeCheckpoint: async (text) => {
        this.#file = text;
      },
      onHealthChanged: (uids) => {
        this.#updated = uids;
      },
      onAllocated: () => undefined,
    });
  }

  /** Runs a step. Resolves with what it shows. */
  async run(step: SequenceStep): Promise<object> {
    this.#calls = [];
    this.#hints = [];
    this.#updated = [];
    const shown = await this.#act(step);
    const {capacity, allocatable, deleted} = this.#manager.takeCapacity();
    this.#manager.allocator.forgetInactive();
    return {
      ...shown,
      capacity: Object.fromEntries(capacity),
      allocatable: Object.fromEntries(allocatable),
      deletedResources: deleted,
      podDevices: this.#podDevices(),
      allocatableDevices: groupIds(this.#manager.allocatableDevices()),
      ...(this.#calls.length > 0 && {pluginCalls: this.#calls}),
      ...(this.#hints.length > 0 && {providerHints: this.#hints}),
      ...(step.op === 'list' && this.#updated.length > 0 && {podsToUpdate: this.#updated}),
    };
  }

  /** Returns what the kubelet showed; where it varies, and what was seen is one of its answers, what was seen. */
  expected(step: SequenceStep, seen: object): object {
    const shown = Object.fromEntries(Object.entries(step).filter(([key]) => !INPUTS.includes(key)));
    const healthy = Object.entries(step.allocatableDevices).filter(([, ids]) => ids.length > 0);
    return resolveVariants({...shown, allocatableDevices: Object.fromEntries(healthy)}, seen) as object;
  }

  async #act(step: SequenceStep): Promise<object> {
    const {op, resource = ''} = step;
    const listed = op === 'register' ? this.#config.resources[resource]?.devices : step.devices;
    const devices = listed ?? [];
    const list = async (): Promise<object> => {
      await this.#manager.update(resource, devices.map(toPluginDevice));
      return {};
    };
    const acts: Readonly<Record<string, () => object | Promise<object>>> = {
      register: () => {
        this.#manager.connect(resource, this.#plugin(resource));
        return list();
      },
      list,
      disconnect: () => {
        this.#manager.disconnect(resource);
        return {};
      },
      'after grace period': async () => {
        await this.#clock.advance(FIVE_MINUTES_MS + 1);
        return {};
      },
      admit: () => this.#admit(step.pod as Pod, step.message),
      podEnds: () => {
        this.#active.delete(nameOf(step));
        return {};
      },
      containerStart: () => this.#startContainer(nameOf(step), step.container ?? ''),
      resourceStatus: () => this.#status(nameOf(step)),
      sourcesReady: () => {
        this.#sourcesReady = true;
        return {};
      },
      kubeletRestart: () => this.#restart(step),
    };
    const act = acts[op];
    if (act === undefined) throw new Error(`unknown step ${op}`);
    return await act();
  }

  #restart({sourcesReady = true, runningContainers = []}: SequenceStep): object {
    this.#sourcesReady = sourcesReady;
    if (!sourcesReady) this.#active = new Map();
    this.#manager = this.#start(runningContainers);
    this.#manager.restore(this.#file);
    return {};
  }

  async #admit(pod: Pod, message = ''): Promise<object> {
    const {topologyManagerPolicy: policy, topologyManagerScope: scope, numaNodes} = this.#config;
    const distances = Array.from({length: numaNodes}, (_, id) => ({id, distances: [10, 10]}));
    const manager = new TopologyManager({
      policy: createTopologyPolicy({policy, scope, options: {}}, distances),
      providers: [this.#provider()],
      managesPodLevel: false,
    });
    const set = new NodeManagerSet([
      {
        name: 'topology',
        admit: async () => {
          await manager.admit(pod);
          return undefined;
        },
      },
    ]);
    const name = String(pod.metadata.name);
    this.#failing = message.includes('boom') ? 'boom' : '';
    // A pod that is admitted again as it was stays active when it is rejected, as in the oracle.
    const isKnown = isDeepStrictEqual(this.#active.get(name), pod);
    this.#active.set(name, pod);
    const rejection = await set.admit('early', pod, SIGNAL);
    this.#failing = '';
    if (rejection === undefined) return {admit: true};
    if (!isKnown) this.#active.delete(name);
    return {admit: false, reason: rejection.reason, message: rejection.message};
  }

  #provider(): TopologyHintProvider {
    const {allocator} = this.#manager;
    const seen = (owner: object, hints: TopologyHints): TopologyHints => {
      const shown = [...hints].map(([resource, list]) => [resource, list?.map(shownHint) ?? null] as const);
      this.#hints.push({...owner, hints: Object.fromEntries(shown)});
      return hints;
    };
    return {
      podHints: (pod) => seen({pod: pod.metadata.name}, allocator.podHints(pod)),
      containerHints: (pod, container) =>
        seen({container: container.name}, allocator.containerHints(pod, container)),
      allocate: (pod, container, affinity) => allocator.allocate(pod, container, affinity),
    };
  }

  async #startContainer(podName: string, name: string): Promise<object> {
    const pod = this.#active.get(podName);
    const container = this.#containers(podName).find((each) => each.name === name);
    if (pod === undefined || container === undefined) throw new Error(`no container ${podName}/${name}`);
    try {
      const options = await this.#manager.containerOptions(pod, container);
      return options === undefined ? {} : {envs: options.environment};
    } catch (error) {
      if (!(error instanceof KcriError)) throw error;
      return {error: messageOf(error)};
    }
  }

  #status(podName: string): object {
    const statuses = this.#containers(podName).map(
      ({name}) => [name, this.#manager.resourceStatus(`uid-${podName}`, name)] as const,
    );
    return {allocatedResourcesStatus: Object.fromEntries(statuses)};
  }

  #plugin(resource: string): PluginCalls {
    const {preferredAllocation, preStartRequired = false} = this.#config.resources[resource] ?? {};
    return {
      needsPreStart: preStartRequired,
      getPreferred:
        preferredAllocation &&
        (async ({available, mustInclude, required: size}) => {
          const all = available.toSorted();
          const own = mustInclude.toSorted();
          this.#calls.push({
            call: 'GetPreferredAllocation',
            available: all,
            mustInclude: own,
            size,
            resource,
          });
          const others = all.filter((id) => !own.includes(id));
          if (preferredAllocation === 'last') others.reverse();
          return [...own, ...others].slice(0, size);
        }),
      allocate: async (ids) => {
        const devices = ids.toSorted();
        this.#calls.push({call: 'Allocate', devices, resource});
        if (this.#failing !== '') throw new SystemError(this.#failing);
        return {envs: {DEVS: devices.join(',')}, mounts: [], devices: [], annotations: {}, cdiDevices: []};
      },
      preStart: async (ids) => {
        this.#calls.push({call: 'PreStartContainer', devices: ids.toSorted(), resource});
      },
    };
  }

  #containers(pod: string): readonly Container[] {
    const active = this.#active.get(pod);
    return active === undefined ? [] : containersOf(active);
  }

  #podDevices(): object {
    const pods = [...this.#active.keys()].map((pod) => {
      const containers = this.#containers(pod)
        .map(({name}) => [name, groupIds(this.#manager.devicesOf(`uid-${pod}`, name))] as const)
        .filter(([, resources]) => Object.keys(resources).length > 0);
      return [pod, Object.fromEntries(containers)] as const;
    });
    return Object.fromEntries(pods.filter(([, containers]) => Object.keys(containers).length > 0));
  }

  /** Returns the content of the checkpoint, without the order that is random in a kubelet. */
  get checkpoint(): object {
    return this.normalized(this.#file);
  }

  normalized(text: string): object {
    if (text === '') return {};
    const {allocations, registered} = parseDeviceCheckpoint(text);
    return {
      allocations: allocations
        .map((each) =>
          JSON.stringify({...each, devices: [...each.devices].map(([n, ids]) => [n, ids.toSorted()])}),
        )
        .toSorted(),
      registered: [...registered].map(([resource, ids]) => [resource, ids.toSorted()]).toSorted(),
    };
  }
}

function nameOf({pod}: SequenceStep): string {
  if (typeof pod !== 'string') throw new Error('the step names no pod');
  return pod;
}

function toPluginDevice({id: ID, health, numa}: OracleDevice): PluginDevice {
  const topology = numa === null ? undefined : {nodes: numa.map((node) => ({ID: BigInt(node)}))};
  return {ID, health, topology};
}

function groupIds(devices: readonly DeviceUse[]): Readonly<Record<string, readonly string[]>> {
  const resources = [...new Set(devices.map(({resource}) => resource))];
  return Object.fromEntries(
    resources.map((name) => [
      name,
      devices.flatMap(({resource, id}) => (resource === name ? [id] : [])).toSorted(),
    ]),
  );
}

function resolveVariants(expected: unknown, seen: unknown): unknown {
  if (expected === '<VARIES>') return seen;
  if (Array.isArray(expected))
    return expected.map((item, index) =>
      resolveVariants(item, Array.isArray(seen) ? seen[index] : undefined),
    );
  if (!isObject(expected)) return expected;
  const {count, always, anyOf} = expected as Readonly<Record<string, readonly unknown[]>>;
  if (count !== undefined && always !== undefined && anyOf !== undefined) {
    if (!Array.isArray(seen)) return expected;
    const isVariant =
      count.includes(seen.length) &&
      always.every((id) => seen.includes(id)) &&
      seen.every((id) => anyOf.includes(id));
    return isVariant ? seen : expected;
  }
  return Object.fromEntries(
    Object.entries(expected).map(([key, value]) => [
      key,
      resolveVariants(value, isObject(seen) ? seen[key] : undefined),
    ]),
  );
}
