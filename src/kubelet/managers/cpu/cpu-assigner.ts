import {containersOf} from '../../../api/pod-containers.js';
import type {Container, Pod} from '../../../api/types/v1-pod.js';
import type {TopologyHint, TopologyHints} from '../../contract/node-manager.js';
import {podRef} from '../../contract/pod-ref.js';
import type {CpuSet} from '../../resources/cpu-set.js';
import {hasPodLevelResources} from '../../resources/resource-amounts.js';
import {allocateForContainer, type Allocations} from './policy/allocate-cpus.js';
import {allocateForPod} from './policy/allocate-pod-cpus.js';
import {isGuaranteed, wholeCpus} from './policy/exclusive-counts.js';
import type {StaticPolicy} from './policy/static-policy.js';
import {containerHints, podHints} from './policy/topology-hints.js';
import {containerCpus, withoutContainer, type CpuState} from './state/cpu-state.js';

/** The pods whose CPUs are not stale; undefined while not all are known. */
export type ActivePods = () => readonly Pod[] | undefined;

/** Assigns CPUs to containers by the static policy, in memory. */
export class CpuAssigner {
  readonly #policy: StaticPolicy;
  readonly #activePods: ActivePods;
  #allocations: Allocations;

  constructor(policy: StaticPolicy, state: CpuState, activePods: ActivePods) {
    this.#policy = policy;
    this.#activePods = activePods;
    this.#allocations = {state, reusable: {uid: '', cpus: 0n}};
  }

  get policy(): StaticPolicy {
    return this.#policy;
  }

  get state(): CpuState {
    return this.#allocations.state;
  }

  /** Returns the CPUs of a container: its own, or the shared ones. */
  cpusOf(pod: Pod, name: string): CpuSet {
    return this.exclusiveCpus(pod, name) ?? this.state.shared;
  }

  /** Returns the CPUs that a container does not share with other pods; undefined without any. */
  exclusiveCpus(pod: Pod, name: string): CpuSet | undefined {
    return containerCpus(this.state, podRef(pod).uid, name);
  }

  /** Reports whether a container has its CPUs for itself, so that it needs no quota (ContainerHasExclusiveCPUs). */
  isIsolated(pod: Pod, container: Container): boolean {
    if ((this.exclusiveCpus(pod, container.name) ?? 0n) === 0n) return false;
    if (!this.#policy.managesPodLevel || !hasPodLevelResources(pod)) return true;
    return isGuaranteed(container) && wholeCpus(container.resources?.limits?.['cpu']) > 0;
  }

  /** Reports whether the cgroup of a pod needs no quota (PodHasExclusiveCPUs). */
  hasIsolatedContainers(pod: Pod): boolean {
    const isIsolated = (container: Container): boolean => this.isIsolated(pod, container);
    return this.#policy.managesPodLevel && hasPodLevelResources(pod)
      ? containersOf(pod).every(isIsolated)
      : containersOf(pod).some(isIsolated);
  }

  containerHints(pod: Pod, container: Container): TopologyHints {
    this.removeStale();
    return containerHints(this.#policy, this.#allocations, {pod, container});
  }

  podHints(pod: Pod): TopologyHints {
    this.removeStale();
    return podHints(this.#policy, this.#allocations, pod);
  }

  /** Allocates the CPUs of a container. Throws AdmissionError or SystemError. */
  allocate(pod: Pod, container: Container, {numaNodes}: TopologyHint): void {
    this.removeStale();
    this.#allocations = allocateForContainer(this.#policy, this.#allocations, {pod, container, numaNodes});
  }

  /** Allocates the CPUs of a pod with resources of its own. Throws AdmissionError or SystemError. */
  allocatePod(pod: Pod, {numaNodes}: TopologyHint): void {
    this.removeStale();
    this.#setState(allocateForPod(this.#policy, this.state, {pod, numaNodes}));
  }

  /** Shares the CPUs of a container again. */
  remove(uid: string, name: string): void {
    this.#setState(withoutContainer(this.state, uid, name));
  }

  /** Shares the CPUs of containers again whose pods are not active (removeStaleState). */
  removeStale(): void {
    const active = this.#activePods();
    if (active === undefined) return;
    const pods = new Map(active.map((pod): [string, Pod] => [podRef(pod).uid, pod]));
    for (const [uid, own] of this.state.containers) {
      const pod = pods.get(uid);
      const names = pod === undefined ? [] : containersOf(pod).map(({name}) => name);
      for (const name of own.keys()) if (!names.includes(name)) this.remove(uid, name);
    }
  }

  #setState(state: CpuState): void {
    this.#allocations = {...this.#allocations, state};
  }
}
