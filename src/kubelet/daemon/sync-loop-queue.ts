import {AsyncQueue} from '../../base/async/async-queue.js';
import type {PodLifecycleEvent} from '../contract/pleg.js';
import type {PodUpdate} from '../contract/pod-update.js';
import type {ProbeUpdate} from '../contract/probe-results.js';

/** An event of the sync loop (the channels of kubelet.go syncLoopIteration). */
export type SyncLoopEvent =
  | {readonly kind: 'config'; readonly update: PodUpdate}
  | {readonly kind: 'pleg'; readonly event: PodLifecycleEvent}
  | {readonly kind: 'probe'; readonly result: ProbeUpdate}
  /** API objects that pods refer to have changed. */
  | {readonly kind: 'objects'}
  | {readonly kind: 'sync'}
  | {readonly kind: 'housekeeping'};

/** Maximum number of queued lifecycle events (plegChannelCapacity). */
const PLEG_CAPACITY = 1000;

/**
 * Queue between the sync loop and the sources of its events. It is created before both, so that PLEG, pod sources and
 * probes do not depend on the loop.
 */
export class SyncLoopQueue {
  readonly #queue = new AsyncQueue<SyncLoopEvent>();
  readonly #queuedTicks = new Set<SyncLoopEvent['kind']>();
  #queuedPleg = 0;

  config(update: PodUpdate): void {
    this.#queue.push({kind: 'config', update});
  }

  objectsChanged(): void {
    this.#queue.push({kind: 'objects'});
  }

  probe(result: ProbeUpdate): void {
    this.#queue.push({kind: 'probe', result});
  }

  /** Queues a lifecycle event. Returns false when the queue is full: the event is lost and must be redelivered. */
  pleg(event: PodLifecycleEvent): boolean {
    if (this.#queuedPleg >= PLEG_CAPACITY) return false;
    this.#queuedPleg += 1;
    return this.#queue.push({kind: 'pleg', event});
  }

  /** Queues a tick unless one of its kind is already queued. */
  tick(kind: 'sync' | 'housekeeping'): void {
    if (this.#queuedTicks.has(kind)) return;
    this.#queuedTicks.add(kind);
    this.#queue.push({kind});
  }

  /** Resolves with the oldest event. Rejects with the signal's reason. */
  async next(signal: AbortSignal): Promise<SyncLoopEvent> {
    const event = await this.#queue.next(signal);
    if (event.kind === 'pleg') this.#queuedPleg -= 1;
    else this.#queuedTicks.delete(event.kind);
    return event;
  }
}
