import type {Pod} from '../../../api/types/v1-pod.js';
import type {PodCondition} from '../../../api/types/v1-status.js';
import {formatResizeMessage} from '../allocation/resize-message.js';
import type {ResizeReview} from '../../contract/pod-rejection.js';
import type {RuntimePodStatus} from '../../contract/runtime-pod-status.js';
import type {SyncResult} from '../../contract/sync-result.js';
import {isResizeInProgress} from '../../managers/kuberuntime/compute/compute-resize-actions.js';
import type {SyncContext} from '../../managers/kuberuntime/sync-context.js';
import {formatMs} from './compute/container-status.js';
import {observedGenerationOf} from './compute/pod-conditions.js';

type Context = Pick<SyncContext, 'events' | 'actuated' | 'clock'>;

/** Reason and message of a resize condition, and the generation of the Pod that they are about. */
type Facts = Pick<PodCondition, 'reason' | 'message' | 'observedGeneration'>;

/** Tracks a pod's resize and reports it as events and conditions (status manager's podResizeConditions). */
export class ResizeConditionTracker {
  readonly #context: Context;
  #pending: PodCondition | undefined;
  /** Set while granted resources are not actuated yet. */
  #progress: PodCondition | undefined;

  constructor(context: Context) {
    this.#context = context;
  }

  /** Continues from the conditions of an earlier process, without events (BackfillPodResizeConditions). */
  restore(conditions: readonly PodCondition[]): void {
    this.#pending = conditions.find(({type}) => type === 'PodResizePending');
    this.#progress = conditions.find(({type}) => type === 'PodResizeInProgress');
  }

  /** Records that the pod was granted other resources. */
  resizeStarted(pod: Pod): void {
    this.#progress = this.#condition('PodResizeInProgress', undefined, observedGenerationOf(pod));
    this.#recordEvent('Normal', 'ResizeStarted', pod, formatResizeMessage('Pod resize started', pod));
  }

  /**
   * Sets the reason why the requested resources are not granted, with an event unless only the message has changed. Before
   * the first review, the last reason remains.
   */
  setReview(review: ResizeReview): void {
    const before = this.#pending;
    if (review === 'unreviewed') return;
    if (review === undefined) {
      this.#pending = undefined;
      return;
    }
    const {pod, reason, cause = reason, message} = review;
    const now = this.#condition('PodResizePending', before, {reason, message, ...observedGenerationOf(pod)});
    this.#pending = now;
    if (before?.reason === reason && before.observedGeneration === now.observedGeneration) return;
    this.#recordEvent(
      'Warning',
      `Resize${reason}`,
      pod,
      formatResizeMessage(`Pod resize ${cause}`, pod, message),
    );
  }

  /** Updates the progress: the resize is complete when the granted resources are actuated. */
  updateProgress(pod: Pod, runtime: RuntimePodStatus): void {
    if (isResizeInProgress(pod, runtime, this.#context.actuated.current))
      this.#progress ??= this.#condition('PodResizeInProgress', undefined, observedGenerationOf(pod));
    else if (this.#progress !== undefined) {
      const resized = withGeneration(pod, this.#progress);
      this.#progress = undefined;
      this.#recordEvent(
        'Normal',
        'ResizeCompleted',
        pod,
        formatResizeMessage('Pod resize completed', resized),
      );
    }
  }

  /** Records the error of a failed resize step of a sync. */
  recordResults(pod: Pod, results: readonly SyncResult[]): void {
    const error = results.find(({action}) => action === 'ResizePodInPlace')?.failure?.message;
    const before = this.#progress;
    if (error === undefined || error === before?.message) return;
    const {observedGeneration} = before ?? observedGenerationOf(pod);
    const now = this.#condition('PodResizeInProgress', before, {
      reason: 'Error',
      message: error,
      ...(observedGeneration !== undefined && {observedGeneration}),
    });
    this.#progress = now;
    const message = formatResizeMessage('Pod resize error', withGeneration(pod, now), error);
    this.#recordEvent('Warning', 'ResizeError', pod, message);
  }

  /** Forgets the resize of a pod that has ended. */
  clear(): void {
    this.#pending = undefined;
    this.#progress = undefined;
  }

  get conditions(): readonly PodCondition[] {
    return [this.#pending, this.#progress].filter((condition) => condition !== undefined);
  }

  /**
   * Returns the condition with these facts (updatedPodResizeCondition). Its probe time is that of the last change: unlike the
   * kubelet, which compares statuses without it, kcri sends every change.
   */
  #condition(type: string, before: PodCondition | undefined, facts: Facts): PodCondition {
    if (before !== undefined && isEqual(before, facts)) return before;
    const now = formatMs(this.#context.clock.now());
    const since =
      before !== undefined && before.reason === facts.reason ? before.lastTransitionTime : undefined;
    return {type, status: 'True', ...facts, lastProbeTime: now, lastTransitionTime: since ?? now};
  }

  #recordEvent(type: 'Normal' | 'Warning', reason: string, pod: Pod, message: string): void {
    this.#context.events({type, reason, message, pod});
  }
}

function isEqual(a: Facts, b: Facts): boolean {
  return a.reason === b.reason && a.message === b.message && a.observedGeneration === b.observedGeneration;
}

/** Returns the pod with the generation that the condition is about. */
function withGeneration(pod: Pod, {observedGeneration}: PodCondition): Pod {
  return observedGeneration === undefined
    ? pod
    : {...pod, metadata: {...pod.metadata, generation: observedGeneration}};
}
