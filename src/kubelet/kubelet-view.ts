import type {Pod} from '../api/v1.js';
import {hasEnded} from '../api/v1-status.js';
import type {Clock} from '../base/clock.js';
import type {PodUid} from '../cri/index.js';
import type {Pleg, RunningPod} from './container/pleg.js';
import type {RuntimePodStatus} from './container/pod-status.js';
import type {KubeletHandler} from './kubelet-handler.js';
import type {KubeletPods} from './kubelet-pods.js';
import {
  plegReport,
  podReport,
  timeText,
  type KubeletPodReport,
  type KubeletReport,
} from './kubelet-report.js';
import type {RuntimeState} from './node-status/runtime-state.js';
import type {PodManager} from './pod/pod-manager.js';
import type {PodWorkers, WorkerSummary} from './pod-workers/pod-workers.js';
import type {ProbeManager} from './prober/probe-manager.js';
import type {SyncLoop} from './sync-loop.js';

interface Parts {
  readonly manager: PodManager;
  readonly handler: KubeletHandler;
  readonly pods: KubeletPods;
  readonly probes: ProbeManager | undefined;
  readonly workers: PodWorkers;
  readonly pleg: Pleg;
  readonly loop: SyncLoop;
  readonly runtimeState: RuntimeState;
  readonly clock: Clock;
}

/** What a kubelet tells of itself, but for what its process does. */
export type ViewReport = Omit<KubeletReport, 'pid' | 'startedAt' | 'endpoint' | 'urls'>;

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
    return !hasEnded(this.pod(uid)?.status?.phase) && !this.#parts.workers.isTerminated(uid);
  }

  /** What the workers of pods are at. */
  workers(): readonly WorkerSummary[] {
    return this.#parts.workers.list();
  }

  /** All that is known here alone, of the pods of these UIDs or of all. */
  report(uids?: readonly PodUid[]): ViewReport {
    const {manager, pods, pleg, loop, clock} = this.#parts;
    const wanted = manager.uids();
    const known = uids ?? [...new Set([...wanted, ...pods.owned().map(({uid}) => uid)])];
    return {
      now: timeText(clock.now()),
      lastActiveAt: timeText(loop.lastActiveAt),
      errors: this.errors(),
      pleg: plegReport(pleg.report()),
      wantedPods: wanted.size,
      pods: known.flatMap((uid) => this.#podReport(uid) ?? []),
    };
  }

  #podReport(uid: PodUid): KubeletPodReport | undefined {
    const {manager, pods, workers, handler, probes} = this.#parts;
    const desired = manager.get(uid);
    const pod = desired?.pod ?? pods.podOf(uid);
    return (
      pod &&
      podReport({
        uid,
        pod,
        desired,
        isRejected: handler.isRejected(uid),
        worker: workers.report(uid),
        backOffs: pods.backOffsOf(uid),
        probes: probes?.states(uid) ?? [],
      })
    );
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
