import {containersOf} from '../../../api/pod-containers.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import type {TopologyHint, TopologyHintProvider} from '../../contract/node-manager.js';
import {AdmissionError} from '../../contract/resources/admission-error.js';
import {hasPodLevelResources} from '../../resources/resource-amounts.js';
import type {TopologyPolicy} from './topology-policy.js';

/** Hint of the policy `none`, which does not merge any. */
const NO_AFFINITY: TopologyHint = {numaNodes: undefined, preferred: false};

const HINT = 'request less, or run the pod on a node that has enough on fewer NUMA nodes';

/** What TopologyManager works with. */
export interface TopologyManagerOptions {
  /** Undefined for the policy `none`. */
  readonly policy: TopologyPolicy | undefined;
  /** Managers that give hints, in the order in which they are asked. */
  readonly providers: readonly TopologyHintProvider[];
  /** True if pods with resources of their own get their NUMA nodes as a whole (PodLevelResourceManagers). */
  readonly managesPodLevel: boolean;
}

/** Allocates what pods need on NUMA nodes on which all their resources are (topologymanager.Manager). */
export class TopologyManager {
  readonly #options: TopologyManagerOptions;

  constructor(options: TopologyManagerOptions) {
    this.#options = options;
  }

  /**
   * Asks for hints, merges them and has the providers allocate, container by container in the order in which they start, or
   * once for the pod. Rejects with AdmissionError, and with the errors of the providers.
   */
  async admit(pod: Pod): Promise<void> {
    const {policy} = this.#options;
    if (policy?.isForPods === true) await this.#admitPod(policy, pod);
    else await this.#admitContainers(policy, pod);
  }

  async #admitContainers(policy: TopologyPolicy | undefined, pod: Pod): Promise<void> {
    const {providers} = this.#options;
    for (const container of containersOf(pod)) {
      let affinity = NO_AFFINITY;
      if (policy !== undefined) {
        const merged = policy.merge(providers.map((provider) => provider.containerHints(pod, container)));
        if (!merged.isAdmitted) throw this.#rejection(pod, 'with a container-level topology manager');
        ({affinity} = merged);
      }
      for (const provider of providers) await provider.allocate(pod, container, affinity);
    }
  }

  async #admitPod({merge}: TopologyPolicy, pod: Pod): Promise<void> {
    const {providers} = this.#options;
    const {affinity, isAdmitted} = merge(providers.map((provider) => provider.podHints(pod)));
    if (!isAdmitted) throw this.#rejection(pod, 'under pod-scope topology manager');
    if (this.#isManagedAsAWhole(pod))
      for (const provider of providers) await provider.allocatePod?.(pod, affinity);
    else
      for (const container of containersOf(pod))
        for (const provider of providers) await provider.allocate(pod, container, affinity);
  }

  #isManagedAsAWhole(pod: Pod): boolean {
    return this.#options.managesPodLevel && hasPodLevelResources(pod);
  }

  #rejection(pod: Pod, where: string): AdmissionError {
    const message = this.#isManagedAsAWhole(pod)
      ? `Pod Scope pod with pod-level resources failed admission ${where}`
      : 'Resources cannot be allocated with Topology locality';
    return new AdmissionError('TopologyAffinityError', message, HINT);
  }
}
