import type {Pod} from '../../api/types/v1-pod.js';
import {messageOf} from '../../base/errors.js';
import type {FileLogger, Logger} from '../../base/logger.js';
import type {PodUid} from '../../cri/index.js';
import type {KubeletMetrics} from '../contract/kubelet-metrics.js';
import type {EventSink} from '../contract/pod-event.js';
import {namespacedName, podRef} from '../contract/pod-ref.js';
import type {DesiredPod, PodOperation} from '../contract/pod-update.js';

/** Dependencies of PodErrorBoundary. */
export interface PodErrorBoundaryOptions {
  readonly events: EventSink;
  readonly logger: Logger;
  readonly metrics?: Pick<KubeletMetrics, 'podHandlingFailed'> | undefined;
  /** Called for each error, after it was reported. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Handling of a pod by the sync loop: of a change of its source, or a sync. */
export type PodHandling = PodOperation | 'SYNC';

/** Handlings that are repeated, from the one that includes the most. The others leave a pod to housekeeping. */
const REPEATED: readonly PodHandling[] = ['ADD', 'DELETE', 'UPDATE', 'RECONCILE', 'SYNC'];

/**
 * Confines an error in the handling of one pod to that pod: the sync loop and the other pods go on. The error is logged,
 * reported as an event and counted, and housekeeping repeats the handling.
 */
export class PodErrorBoundary {
  readonly #options: PodErrorBoundaryOptions;
  readonly #logger: FileLogger;
  readonly #failed = new Map<PodUid, PodHandling>();

  constructor(options: PodErrorBoundaryOptions) {
    this.#options = options;
    this.#logger = options.logger.forFile('pod-error-boundary.ts');
  }

  /** Returns the handling that the pod needs: a pod that could not be added must still be added when it is updated. */
  pending(handling: PodHandling, uid: PodUid): PodHandling {
    const failed = this.#failed.get(uid);
    return handling === 'REMOVE' || failed === undefined ? handling : greater(failed, handling);
  }

  /** Reports whether the pod could not be added yet. */
  isAddPending(uid: PodUid): boolean {
    return this.#failed.get(uid) === 'ADD';
  }

  /** Handles a pod, and reports an error of it. */
  run(handling: PodHandling, desired: DesiredPod, handle: () => void): void {
    try {
      handle();
      this.#succeeded(handling, desired.uid);
    } catch (error) {
      this.#report(handling, desired, error);
    }
  }

  /** Handles a pod, and reports an error of it. Rejects with the signal's reason. */
  async runAsync(
    handling: PodHandling,
    desired: DesiredPod,
    signal: AbortSignal,
    handle: () => Promise<void>,
  ): Promise<void> {
    try {
      await handle();
      this.#succeeded(handling, desired.uid);
    } catch (error) {
      signal.throwIfAborted();
      this.#report(handling, desired, error);
    }
  }

  /** Returns what failed and has to be repeated. An entry stays until its handling succeeds or the pod is removed. */
  failed(): readonly (readonly [PodUid, PodHandling])[] {
    return [...this.#failed];
  }

  /** Forgets a pod that is in no source any more. */
  forget(uid: PodUid): void {
    this.#failed.delete(uid);
  }

  #succeeded(handling: PodHandling, uid: PodUid): void {
    if (this.pending(handling, uid) === handling) this.#failed.delete(uid);
  }

  /** Reports a programming error in the work of the pod's worker, which logs the error and repeats the work. */
  reportWork(pod: Pod, error: unknown): void {
    this.#announce('WORK', pod, error);
  }

  #report(handling: PodHandling, {uid, pod}: DesiredPod, error: unknown): void {
    if (REPEATED.includes(handling)) this.#failed.set(uid, this.pending(handling, uid));
    const fields = {operation: handling, pod: namespacedName(podRef(pod)), podUID: uid};
    this.#logger.error(error, 'Failed to handle pod, will try again', fields);
    this.#announce(handling, pod, error);
  }

  #announce(handling: PodHandling | 'WORK', pod: Pod, error: unknown): void {
    const {events, metrics, onError} = this.#options;
    metrics?.podHandlingFailed(handling.toLowerCase());
    events({type: 'Warning', reason: 'FailedSync', message: `error handling pod: ${messageOf(error)}`, pod});
    onError?.(error);
  }
}

function greater(a: PodHandling, b: PodHandling): PodHandling {
  return REPEATED.indexOf(a) <= REPEATED.indexOf(b) ? a : b;
}
