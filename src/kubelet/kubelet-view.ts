import type {Pod} from '../api/v1.js';
import type {PodUid} from '../cri/index.js';
import type {Pleg, RunningPod} from './container/pleg.js';
import type {RuntimePodStatus} from './container/pod-status.js';
import type {KubeletHandler} from './kubelet-handler.js';
import type {RuntimeState} from './node-status/runtime-state.js';
import type {PodManager} from './pod/pod-manager.js';
import type {PodWorkers} from './pod-workers/pod-workers.js';
import type {SyncLoop} from './sync-loop.js';

interface Parts {
  readonly manager: PodManager;
  readonly handler: KubeletHandler;
  readonly workers: PodWorkers;
  readonly pleg: Pleg;
  readonly loop: SyncLoop;
  readonly runtimeState: RuntimeState;
}

/** What a worker last did and does next. */
export type PodSchedule = ReturnType<PodWorkers['schedule']>;

/** A running kubelet as others see it: its HTTP server, its metrics. Changes nothing. */
export class KubeletView {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The pods that are wanted, each with its status. */
  pods(): readonly Pod[] {
    const {manager, handler} = this.#parts;
    return manager.list().map((desired) => ({...desired.pod, status: handler.statusOf(desired)}));
  }

  pod(uid: PodUid): Pod | undefined {
    const {manager, handler} = this.#parts;
    const desired = manager.get(uid);
    return desired && {...desired.pod, status: handler.statusOf(desired)};
  }

  /** All pods in the runtime, whoever made them. */
  runningPods(): readonly RunningPod[] {
    return this.#parts.pleg.runningPods().filter(({isRunning}) => isRunning);
  }

  /** What runs of one of the kubelet's pods, as last read. Throws what the runtime answered when it couldn't be read. */
  runtimeStatus(uid: PodUid): RuntimePodStatus {
    return this.#parts.pleg.cache.get(uid);
  }

  /** Whether the pod takes room on the node (filterOutInactivePods). */
  isActive(uid: PodUid): boolean {
    const phase = this.pod(uid)?.status?.phase;
    return phase !== 'Succeeded' && phase !== 'Failed' && !this.#parts.workers.isTerminated(uid);
  }

  schedule(uid: PodUid): PodSchedule {
    return this.#parts.workers.schedule(uid);
  }

  /** When the sync loop was last active, ms since the epoch. */
  get lastActiveAt(): number {
    return this.#parts.loop.lastActiveAt;
  }

  /** Why pods can't be synced now; empty when they can. */
  errors(): readonly string[] {
    return this.#parts.handler.errors();
  }

  get networkError(): string | undefined {
    return this.#parts.runtimeState.networkError;
  }
}
