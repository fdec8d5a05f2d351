import {containersOf} from '../../../../src/api/pod-containers.js';
import {quantityMilliValue} from '../../../../src/api/quantity.js';
import type {Container, Pod} from '../../../../src/api/types/v1-pod.js';
import {messageOf} from '../../../../src/base/errors.js';
import {SILENT_LOGGER} from '../../../../src/base/logger.js';
import {containerId, type ContainerId} from '../../../../src/cri/index.js';
import type {
  NodeManager,
  NodeManagerServices,
  TopologyHintProvider,
  TopologyHints,
} from '../../../../src/kubelet/contract/node-manager.js';
import {AdmissionError} from '../../../../src/kubelet/contract/resources/admission-error.js';
import type {CpuManagerSettings} from '../../../../src/kubelet/contract/resources/cpu-manager-settings.js';
import {newCpuManager, openCpuState} from '../../../../src/kubelet/managers/cpu/cpu-manager.js';
import {allocatableCpus} from '../../../../src/kubelet/managers/cpu/policy/static-policy.js';
import {StaticCpuManager} from '../../../../src/kubelet/managers/cpu/static-cpu-manager.js';
import {EMPTY_STATE, type CpuState} from '../../../../src/kubelet/managers/cpu/state/cpu-state.js';
import {TopologyManager} from '../../../../src/kubelet/managers/topology/topology-manager.js';
import {createTopologyPolicy} from '../../../../src/kubelet/managers/topology/topology-policy.js';
import type {StateFile} from '../../../../src/kubelet/resources/checkpoint/state-file.js';
import {formatCpuSet} from '../../../../src/kubelet/resources/cpu-set.js';
import {discoverCpus} from '../../../../src/kubelet/resources/machine/discover-cpus.js';
import {machineOf, ORACLE_MACHINES} from '../../resources/machine/machine-oracle.js';
import {shownHint, type OracleHint} from '../topology/oracle-hints.js';

/** Configuration of a node, as the oracle writes it. */
export interface CpuNodeConfig {
  readonly cpuManagerPolicy: string;
  readonly cpuManagerPolicyOptions?: Readonly<Record<string, string>>;
  readonly reservedCPU?: string;
  readonly reservedSystemCPUs?: string;
  readonly topologyManagerPolicy: string;
  readonly topologyManagerScope: string;
  readonly topologyManagerPolicyOptions?: Readonly<Record<string, string>>;
  readonly topology: string;
}

/** Feature gates that a case sets. */
export type FeatureGates = Readonly<Record<string, boolean>>;

/** Hints that the CPU manager gave. */
interface GivenHints {
  readonly container?: string;
  readonly pod?: string;
  readonly hints: Readonly<Record<string, readonly OracleHint[] | null>> | null;
}

interface RunningContainer {
  readonly id: string;
  readonly state: 'running' | 'exited';
}

/** A node with a CPU manager behind a topology manager; the runtime and the state file are in memory. */
export class CpuNode {
  stateFile: string | undefined;
  readonly hints: GivenHints[] = [];
  readonly affinities: Record<string, OracleHint> = {};
  readonly updates: {readonly containerID: string; readonly cpusetCpus: string}[] = [];
  readonly #gates: FeatureGates;
  readonly #pods = new Map<string, Pod>();
  readonly #containers = new Map<string, RunningContainer>();
  #manager: NodeManager = {name: 'none'};
  #topology: TopologyManager | undefined;

  constructor(gates: FeatureGates = {}) {
    this.#gates = gates;
  }

  /** Starts the managers. Returns the error of the first that cannot start. */
  async start(config: CpuNodeConfig): Promise<string | undefined> {
    const machine = machineOf(requireMachine(config.topology));
    try {
      const policy = createTopologyPolicy(
        {
          policy: config.topologyManagerPolicy,
          scope: config.topologyManagerScope,
          options: config.topologyManagerPolicyOptions ?? {},
        },
        machine.numaNodes,
      );
      const settings = this.#settingsOf(config);
      const {reservedCPU = ''} = config;
      this.#manager = newCpuManager({
        settings,
        topologyPolicy: config.topologyManagerPolicy,
        reservedMilli: reservedCPU === '' ? undefined : quantityMilliValue(reservedCPU),
        readTopology: () => discoverCpus(machine),
        openState: () => this.#openState(settings),
      });
      await this.#manager.start?.(this.#services(), new AbortController().signal);
      const providers = this.#manager.topology === undefined ? [] : [this.#observe(this.#manager.topology)];
      this.#topology = new TopologyManager({policy, providers, managesPodLevel: settings.managesPodLevel});
      return undefined;
    } catch (error) {
      return messageOf(error).replace(/^start cpu manager error: /, '');
    }
  }

  #settingsOf({cpuManagerPolicy, cpuManagerPolicyOptions = {}, ...rest}: CpuNodeConfig): CpuManagerSettings {
    return {
      policy: cpuManagerPolicy,
      options: cpuManagerPolicyOptions,
      reconcilePeriodMs: 10_000,
      reservedSystemCpus: rest.reservedSystemCPUs ?? '',
      allowsAlphaOptions: this.#gates['CPUManagerPolicyAlphaOptions'] ?? true,
      allowsBetaOptions: this.#gates['CPUManagerPolicyBetaOptions'] ?? true,
      managesPodLevel: this.#gates['PodLevelResourceManagers'] ?? false,
      dropsQuota: true,
    };
  }

  #openState(settings: CpuManagerSettings): StateFile<CpuState> {
    const access = {
      path: '<DIR>/cpu_manager_state',
      read: async () => Promise.resolve(this.stateFile),
      write: async (text: string) => {
        this.stateFile = text;
        return Promise.resolve();
      },
    };
    return openCpuState(settings, access, {logger: SILENT_LOGGER, runningContainers: () => this.#known()});
  }

  /** Containers that the runtime has, of any pod. */
  #known(): readonly {readonly pod: Pod; readonly name: string; readonly id: ContainerId}[] {
    return [...this.#containers].map(([key, {id}]) => {
      const [uid = '', name = ''] = key.split('/');
      const metadata = {uid, name: uid, namespace: 'default'};
      return {pod: {metadata, spec: {containers: []}} as unknown as Pod, name, id: containerId(id)};
    });
  }

  #services(): NodeManagerServices {
    return {
      logger: SILENT_LOGGER,
      activePods: () => [...this.#pods.values()],
      allSourcesReady: () => true,
      runningContainers: () =>
        [...this.#pods.values()].flatMap((pod) =>
          containersOf(pod).flatMap(({name}) => {
            const found = this.#containers.get(keyOf(pod, name));
            return found?.state === 'running' ? [{pod, name, id: containerId(found.id)}] : [];
          }),
        ),
      updateContainer: async (id, {cpusetCpus = ''}) => {
        this.updates.push({containerID: id, cpusetCpus});
        return Promise.resolve();
      },
    } as Partial<NodeManagerServices> as NodeManagerServices;
  }

  /** Records what the topology manager asks and decides. */
  #observe(provider: TopologyHintProvider): TopologyHintProvider {
    const record = <T extends TopologyHints>(hints: T, asked: Omit<GivenHints, 'hints'>): T => {
      const shown = [...hints].map(([name, list]) => [name, list?.map(shownHint) ?? null] as const);
      this.hints.push({...asked, hints: shown.length === 0 ? null : Object.fromEntries(shown)});
      return hints;
    };
    return {
      podHints: (pod) => record(provider.podHints(pod), {pod: pod.metadata.name ?? ''}),
      containerHints: (pod, container) =>
        record(provider.containerHints(pod, container), {container: container.name}),
      allocate: async (pod, container, affinity) => {
        this.affinities[container.name] = shownHint(affinity);
        await provider.allocate(pod, container, affinity);
      },
      allocatePod: async (pod, affinity) => {
        for (const {name} of containersOf(pod)) this.affinities[name] = shownHint(affinity);
        await provider.allocatePod?.(pod, affinity);
      },
    };
  }

  /** Admits a pod; returns the reason and message of a refusal. */
  async admit(pod: Pod): Promise<{readonly reason: string; readonly message: string} | undefined> {
    const name = pod.metadata.name ?? '';
    const wasActive = this.#pods.has(name);
    this.#pods.set(name, pod);
    try {
      await this.#topology?.admit(pod);
      return undefined;
    } catch (error) {
      if (!wasActive) this.#pods.delete(name);
      const message = messageOf(error);
      return error instanceof AdmissionError
        ? {reason: error.reason, message}
        : {
            reason: 'UnexpectedAdmissionError',
            message: `Allocate failed due to ${message}, which is unexpected`,
          };
    }
  }

  /** Returns what CreateContainer gets as the CPUs of each container. */
  async cpusOf(pod: Pod): Promise<Readonly<Record<string, string>>> {
    const entries = containersOf(pod).map(async (container) => {
      const request = {pod, container} as Parameters<NonNullable<NodeManager['containerOptions']>>[0];
      const options = await this.#manager.containerOptions?.(request, new AbortController().signal);
      return [container.name, options?.resources?.cpusetCpus ?? ''] as const;
    });
    return Object.fromEntries(await Promise.all(entries));
  }

  async startContainer(podName: string, name: string, id: string): Promise<void> {
    const pod = this.pod(podName);
    this.#containers.set(keyOf(pod, name), {id, state: 'running'});
    await this.#manager.containerCreated?.(pod, {name} as Container, containerId(id));
  }

  exitContainer(podName: string, name: string): void {
    const key = keyOf(this.pod(podName), name);
    this.#containers.set(key, {id: this.#containers.get(key)?.id ?? '', state: 'exited'});
  }

  async removeContainer(podName: string, name: string): Promise<void> {
    const uid = this.pod(podName).metadata.uid ?? '';
    const started = this.#static?.started;
    started?.assigner.remove(uid, name);
    started?.reconciler.forget(uid, name);
    await started?.file.save(started.assigner.state);
  }

  endPod(name: string): void {
    this.#pods.delete(name);
  }

  /** Adds a container that is known from the runtime only. */
  addContainer(key: string, id: string): void {
    this.#containers.set(key, {id, state: 'running'});
  }

  async reconcile(): Promise<void> {
    await this.#manager.reconcile?.run(new AbortController().signal);
  }

  pod(name: string): Pod {
    const pod = this.#pods.get(name);
    if (pod === undefined) throw new Error(`no pod ${name}`);
    return pod;
  }

  get #static(): StaticCpuManager | undefined {
    return this.#manager instanceof StaticCpuManager ? this.#manager : undefined;
  }

  /** Names of the containers that run, as `pod/container`. */
  get running(): readonly string[] {
    return this.#services()
      .runningContainers()
      .map(({pod, name}) => `${pod.metadata.name ?? ''}/${name}`);
  }

  /** CPUs that may become exclusive. */
  get allocatable(): string {
    const policy = this.#static?.started?.assigner.policy;
    return policy === undefined ? '' : formatCpuSet(allocatableCpus(policy));
  }

  /** Who has which CPUs. */
  get state(): OracleCpuState {
    const {shared, containers, pods} = this.#static?.started?.assigner.state ?? EMPTY_STATE;
    const shown = (sets: ReadonlyMap<string, bigint>): Readonly<Record<string, string>> =>
      Object.fromEntries([...sets].map(([name, cpus]) => [name, formatCpuSet(cpus)]));
    return {
      defaultCpuSet: formatCpuSet(shared),
      entries: Object.fromEntries([...containers].map(([uid, own]) => [uid, shown(own)])),
      ...(this.#gates['PodLevelResourceManagers'] === true && {podEntries: shown(pods)}),
    };
  }
}

/** Who has which CPUs, as the oracle writes it. */
export interface OracleCpuState {
  readonly defaultCpuSet: string;
  readonly entries: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly podEntries?: Readonly<Record<string, string>>;
}

function keyOf({metadata: {uid = ''}}: Pod, container: string): string {
  return `${uid}/${container}`;
}

function requireMachine(name: string): Parameters<typeof machineOf>[0] {
  const found = ORACLE_MACHINES.get(name);
  if (found === undefined) throw new Error(`no topology ${name}`);
  return found.machineInfo;
}
