import type {Pod} from '../api/v1.js';
import {resizeText} from './allocation/resize-text.js';
import type {PendingResize} from './allocation/judge-resize.js';
import type {RuntimePodStatus} from './container/pod-status.js';
import type {SyncResult} from './container/sync-result.js';
import {isResizeInProgress} from './kuberuntime/compute-resize.js';
import type {SyncContext} from './kuberuntime/sync-context.js';
import type {ResizeConditions} from './status/conditions.js';

/** How far a pod's resize has come, told as events and conditions (status manager's podResizeConditions). */
export class ResizeProgress {
  readonly #context: Pick<SyncContext, 'events' | 'actuated'>;
  #pending: PendingResize | undefined;
  /** Something was granted that the pod has not got yet; `error`: why it could not get it. */
  #progress: {readonly error?: string} | undefined;

  constructor(context: Pick<SyncContext, 'events' | 'actuated'>) {
    this.#context = context;
  }

  /** The pod was granted other resources. */
  started(pod: Pod): void {
    this.#progress = {};
    this.#tell('Normal', 'ResizeStarted', pod, resizeText('Pod resize started', pod));
  }

  /** Why the pod isn't granted what it asks for; undefined when it is. */
  waitsFor(pending: PendingResize | undefined): void {
    const isNew = pending?.reason !== this.#pending?.reason || pending?.message !== this.#pending?.message;
    this.#pending = pending;
    if (pending === undefined || !isNew) return;
    const {pod, reason, message} = pending;
    this.#tell('Warning', `Resize${reason}`, pod, resizeText(`Pod resize ${reason}`, pod, message));
  }

  /** Compares what the pod was granted with what it was given. */
  look(pod: Pod, runtime: RuntimePodStatus): void {
    if (isResizeInProgress(pod, runtime, this.#context.actuated.current)) this.#progress ??= {};
    else if (this.#progress !== undefined) {
      this.#progress = undefined;
      this.#tell('Normal', 'ResizeCompleted', pod, resizeText('Pod resize completed', pod));
    }
  }

  /** What came of the steps of a sync. */
  take(pod: Pod, results: readonly SyncResult[]): void {
    const error = results.find(({action}) => action === 'ResizePodInPlace')?.failure?.message;
    if (error === undefined || error === this.#progress?.error) return;
    this.#progress = {error};
    this.#tell('Warning', 'ResizeError', pod, resizeText('Pod resize error', pod, error));
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

  #tell(type: 'Normal' | 'Warning', reason: string, pod: Pod, message: string): void {
    this.#context.events({type, reason, message, pod});
  }
}
