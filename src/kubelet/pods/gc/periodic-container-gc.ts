import type {Clock} from '../../../base/clock.js';
import type {PodUid} from '../../../cri/index.js';
import type {KubeletTracer} from '../../contract/observation/kubelet-tracer.js';
import type {ContainerGcRules} from './container-collector.js';
import {DEFAULT_CONTAINER_GC_POLICY, type ContainerGcPolicy} from './container-gc.js';

/** Dependencies of PeriodicContainerGc. */
export interface PeriodicContainerGcOptions {
  /** Removes the containers; neither method rejects. */
  readonly collector: {
    removeDeadContainers(uid: PodUid, rules: ContainerGcRules): Promise<void>;
    collectGarbage(rules: ContainerGcRules): Promise<void>;
  };
  /** Removes the links to logs that do not exist any more, if there are links; does not reject. */
  readonly deadLogLinks?: {collect(): Promise<void>} | undefined;
  /** Reports whether everything that the pod has in the runtime may be removed. */
  readonly isUnwanted: (uid: PodUid) => boolean;
  /** Reports whether nothing of the pod runs, so that what it has may be removed if the node lacks space. */
  readonly isUnused: (uid: PodUid) => boolean;
  /** Policy of the container GC; the kubelet's default if undefined. */
  readonly policy: ContainerGcPolicy | undefined;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  /** Traces collections; by default they are not traced. */
  readonly tracer?: Pick<KubeletTracer, 'traceCollection'> | undefined;
}

/** Period of container GC in ms (ContainerGCPeriod). */
export const CONTAINER_GC_PERIOD_MS = 60_000;

/** Runs container GC under one policy: for a pod when one of its containers dies, and for all pods once a minute. */
export class PeriodicContainerGc {
  readonly #options: PeriodicContainerGcOptions;
  #nextAt = 0;
  #isCollecting = false;

  constructor(options: PeriodicContainerGcOptions) {
    this.#options = options;
  }

  /** Removes older dead containers of one pod. Never rejects. */
  async removeDeadContainers(uid: PodUid): Promise<void> {
    await this.#options.collector.removeDeadContainers(uid, this.#rules());
  }

  /** Removes dead containers and sandboxes of all pods, at most once a minute and one round at a time. Never rejects. */
  async collectIfDue(): Promise<void> {
    const {clock} = this.#options;
    if (this.#isCollecting || clock.monotonic() < this.#nextAt) return;
    this.#nextAt = clock.monotonic() + CONTAINER_GC_PERIOD_MS;
    this.#isCollecting = true;
    try {
      await this.#traced(async () => {
        await this.#options.collector.collectGarbage(this.#rules());
        await this.#options.deadLogLinks?.collect();
      });
    } finally {
      this.#isCollecting = false;
    }
  }

  /** Removes dead containers and sandboxes, also of pods that have ended (DeleteAllUnusedContainers). Never rejects. */
  async deleteUnused(): Promise<void> {
    const {collector, isUnwanted, isUnused} = this.#options;
    await this.#traced(async () => {
      await collector.collectGarbage(this.#rules((uid) => isUnwanted(uid) || isUnused(uid)));
    });
  }

  async #traced(collect: () => Promise<void>): Promise<void> {
    const {tracer} = this.#options;
    await (tracer?.traceCollection('Containers', collect) ?? collect());
  }

  #rules(isUnwanted = this.#options.isUnwanted): ContainerGcRules {
    const {policy = DEFAULT_CONTAINER_GC_POLICY, clock} = this.#options;
    return {policy, now: clock.now(), isUnwanted};
  }
}
