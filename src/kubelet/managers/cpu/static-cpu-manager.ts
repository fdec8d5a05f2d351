import {containersOf} from '../../../api/pod-containers.js';
import type {Container, Pod} from '../../../api/types/v1-pod.js';
import type {
  ContainerOptions,
  ContainerRequest,
  ContainerResources,
  NodeManager,
  NodeManagerServices,
  TopologyHintProvider,
  TopologyHints,
} from '../../contract/node-manager.js';
import type {KubeletMetrics} from '../../contract/kubelet-metrics.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import {podRef} from '../../contract/pod-ref.js';
import type {CgroupLimits} from '../../contract/resources/cgroup-limits.js';
import {DEFAULT_CONTAINER_POLICY} from '../../contract/resources/container-policy.js';
import type {PodResourceProvider} from '../../contract/resources/pod-resource-use.js';
import {listMembers} from '../../resources/bit-set.js';
import type {StateFile} from '../../resources/checkpoint/state-file.js';
import {formatCpuSet} from '../../resources/cpu-set.js';
import {CpuAssigner} from './cpu-assigner.js';
import {allocatableCpus, startState, type StaticPolicy} from './policy/static-policy.js';
import {CpuReconciler} from './reconcile-cpus.js';
import {containerCpus, type CpuState} from './state/cpu-state.js';
import {restore} from './state/restore.js';

/** What StaticCpuManager works with. */
export interface StaticCpuManagerOptions {
  readonly reconcilePeriodMs: number;
  /** True if containers with exclusive CPUs have no quota (DisableCPUQuotaWithExclusiveCPUs). */
  readonly dropsQuota: boolean;
  /** Called at the start. Throws SystemError if the configuration does not fit the machine. */
  readonly createPolicy: () => StaticPolicy;
  readonly openState: (services: NodeManagerServices) => StateFile<CpuState>;
}

/** Parts that exist from the start on. */
interface Started {
  readonly assigner: CpuAssigner;
  readonly reconciler: CpuReconciler;
  readonly file: StateFile<CpuState>;
  readonly metrics: KubeletMetrics;
}

const NO_HINTS: TopologyHints = new Map();

/** The CPU manager with the policy `static`: containers of Guaranteed pods get CPUs of their own. */
export class StaticCpuManager implements NodeManager {
  readonly name = 'cpu';
  readonly answersPlans = true;
  readonly reconcile: NonNullable<NodeManager['reconcile']>;
  readonly topology: TopologyHintProvider;
  /** Exclusive CPUs; those of the shared pool are nobody's (GetExclusiveCPUs, GetAllocatableCPUs). */
  readonly podResources: PodResourceProvider = {
    ofContainer: (uid, name) => ({
      cpus: listMembers((this.#assigner && containerCpus(this.#assigner.state, uid, name)) ?? 0n),
    }),
    allocatable: () => ({
      cpus: this.#assigner === undefined ? [] : listMembers(allocatableCpus(this.#assigner.policy)),
    }),
  };
  readonly #options: StaticCpuManagerOptions;
  #started: Started | undefined;

  constructor(options: StaticCpuManagerOptions) {
    this.#options = options;
    this.reconcile = {periodMs: options.reconcilePeriodMs, run: async (signal) => this.#reconcile(signal)};
    this.topology = {
      podHints: (pod) => this.#hints((assigner) => assigner.podHints(pod)),
      containerHints: (pod, container) => this.#hints((assigner) => assigner.containerHints(pod, container)),
      allocate: async (pod, container, affinity) =>
        this.#change((assigner) => {
          this.#count(assigner.needsCpus(pod, container) ? 1 : 0, () => {
            assigner.allocate(pod, container, affinity);
          });
        }),
      allocatePod: async (pod, affinity) =>
        this.#change((assigner) => {
          this.#count(containersOf(pod).filter((each) => assigner.needsCpus(pod, each)).length, () => {
            assigner.allocatePod(pod, affinity);
          });
        }),
    };
  }

  /** Undefined before the start. */
  get started(): Started | undefined {
    return this.#started;
  }

  get #assigner(): CpuAssigner | undefined {
    return this.#started?.assigner;
  }

  readonly validate = (): void => {
    this.#options.createPolicy();
  };

  readonly start = async (services: NodeManagerServices): Promise<void> => {
    const policy = this.#options.createPolicy();
    const file = this.#options.openState(services);
    const state = await restore(file, (stored) => startState(policy, stored));
    const {activePods, allSourcesReady} = services;
    const assigner = new CpuAssigner(policy, state, () => (allSourcesReady() ? activePods() : undefined));
    this.#started = {assigner, reconciler: new CpuReconciler(services), file, metrics: services.metrics};
    services.metrics.cpusAssigned(assigner.use);
    await file.save(state);
  };

  #hints(ask: (assigner: CpuAssigner) => TopologyHints): TopologyHints {
    if (this.#started === undefined) return NO_HINTS;
    const {assigner, file} = this.#started;
    const hints = ask(assigner);
    file.startToSave(assigner.state); // stale state may have been removed
    return hints;
  }

  async #change(act: (assigner: CpuAssigner) => void): Promise<void> {
    if (this.#started === undefined) return;
    const {assigner, file} = this.#started;
    try {
      act(assigner);
    } finally {
      this.#started.metrics.cpusAssigned(assigner.use);
      await file.save(assigner.state);
    }
  }

  /** Counts the containers that an allocation pins, and its failure. */
  #count(containers: number, allocate: () => void): void {
    const pinned = (isFailed: boolean): void => {
      for (let index = 0; index < containers; index++) this.#started?.metrics.cpusPinned(isFailed);
    };
    try {
      allocate();
    } catch (error) {
      pinned(true);
      throw error;
    }
    pinned(false);
  }

  async #reconcile(signal: AbortSignal): Promise<void> {
    if (this.#started === undefined) return;
    const {assigner, reconciler} = this.#started;
    await this.#change(() => {
      assigner.removeStale();
    });
    await reconciler.run(assigner, signal);
  }

  readonly podLimits = (pod: Pod, limits: CgroupLimits): CgroupLimits => {
    const {cpuQuota, ...others} = limits;
    const isUnlimited = this.#options.dropsQuota && this.#assigner?.hasIsolatedContainers(pod) === true;
    return cpuQuota === undefined || !isUnlimited ? limits : others;
  };

  readonly sandboxResources = (pod: Pod, node: NodeFacts): ContainerResources =>
    this.#withoutQuota(node, (assigner) => assigner.hasIsolatedContainers(pod));

  readonly resources = ({pod, container, node}: ContainerRequest): ContainerResources =>
    this.#withoutQuota(node, (assigner) => assigner.isIsolated(pod, container));

  #withoutQuota(
    {containerPolicy = DEFAULT_CONTAINER_POLICY}: NodeFacts,
    isIsolated: (assigner: CpuAssigner) => boolean,
  ): ContainerResources {
    const hasQuota = containerPolicy.enforcesCpuLimits;
    const dropsQuota = this.#options.dropsQuota && this.#assigner !== undefined && isIsolated(this.#assigner);
    return hasQuota && dropsQuota ? {cpuQuota: -1n} : {};
  }

  readonly containerOptions = async ({pod, container}: ContainerRequest): Promise<ContainerOptions> => {
    const cpus = this.#assigner?.cpusOf(pod, container.name) ?? 0n;
    return Promise.resolve(cpus === 0n ? {} : {resources: {cpusetCpus: formatCpuSet(cpus)}});
  };

  readonly containerCreated = (pod: Pod, {name}: Container): void => {
    const cpus = this.#assigner?.exclusiveCpus(pod, name);
    if (cpus !== undefined) this.#started?.reconciler.record(podRef(pod).uid, name, cpus);
  };

  readonly explain = (pod: Pod, {name}: Container): string | undefined => {
    const cpus = this.#assigner?.exclusiveCpus(pod, name);
    return cpus === undefined ? undefined : `exclusive CPUs ${formatCpuSet(cpus)}`;
  };
}
