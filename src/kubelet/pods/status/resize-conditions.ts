import type {Pod} from '../../../api/types/v1-pod.js';
import {formatResizeMessage} from '../allocation/resize-message.js';
import type {PendingResize} from '../../contract/pod-rejection.js';
import type {RuntimePodStatus} from '../../contract/runtime-pod-status.js';
import type {SyncResult} from '../../contract/sync-result.js';
import {isResizeInProgress} from '../../managers/kuberuntime/compute/compute-resize-actions.js';
import type {SyncContext} from '../../managers/kuberuntime/sync-context.js';
import type {ResizeConditions} from './compute/pod-conditions.js';

/** Tracks a pod's resize and reports it as events and conditions (status manager's podResizeConditions). */
export class ResizeConditionTracker {
  readonly #context: Pick<SyncContext, 'events' | 'actuated'>;
  #pending: PendingResize | undefined;
  /** Set while granted resources are not actuated yet; `error` is the message of the last failure. */
  #progress: {readonly error?: string} | undefined;

  constructor(context: Pick<SyncContext, 'events' | 'actuated'>) {
    this.#context = context;
  }

  /** Records that the pod was granted other resources. */
  resizeStarted(pod: Pod): void {
    this.#progress = {};
    this.#recordEvent('Normal', 'ResizeStarted', pod, formatResizeMessage('Pod resize started', pod));
  }

  /** Sets the reason why the requested resources are not granted; undefined when they are. */
  setPending(pending: PendingResize | undefined): void {
    const isNew = pending?.reason !== this.#pending?.reason || pending?.message !== this.#pending?.message;
    this.#pending = pending;
    if (pending === undefined || !isNew) return;
    const {pod, reason, cause = reason, message} = pending;
    this.#recordEvent(
      'Warning',
      `Resize${reason}`,
      pod,
      formatResizeMessage(`Pod resize ${cause}`, pod, message),
    );
  }

  /** Updates the progress: the resize is complete when the granted resources are actuated. */
  updateProgress(pod: Pod, runtime: RuntimePodStatus): void {
    if (isResizeInProgress(pod, runtime, this.#context.actuated.current)) this.#progress ??= {};
    else if (this.#progress !== undefined) {
      this.#progress = undefined;
      this.#recordEvent('Normal', 'ResizeCompleted', pod, formatResizeMessage('Pod resize completed', pod));
    }
  }

  /** Records the error of a failed resize step of a sync. */
  recordResults(pod: Pod, results: readonly SyncResult[]): void {
    const error = results.find(({action}) => action === 'ResizePodInPlace')?.failure?.message;
    if (error === undefined || error === this.#progress?.error) return;
    this.#progress = {error};
    this.#recordEvent('Warning', 'ResizeError', pod, formatResizeMessage('Pod resize error', pod, error));
  }

  get conditions(): ResizeConditions {
    const {reason, message} = this.#pending ?? {};
    const {error} = this.#progress ?? {};
    return {
      ...(reason !== undefined && message !== undefined && {PodResizePending: {reason, message}}),
      ...(this.#progress && {
        PodResizeInProgress: error === undefined ? {} : {reason: 'Error', message: error},
      }),
    };
  }

  #recordEvent(type: 'Normal' | 'Warning', reason: string, pod: Pod, message: string): void {
    this.#context.events({type, reason, message, pod});
  }
}
