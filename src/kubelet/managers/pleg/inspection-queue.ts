import {runInBackground} from '../../../base/async/background-work.js';
import type {PodUid} from '../../../cri/index.js';

interface QueuedInspection {
  readonly inspection: Promise<boolean>;
  readonly start: () => Promise<void>;
}

/**
 * Runs inspections of pods: at most one at a time for each pod, and at most `limit` in total. A request for a queued
 * pod joins its inspection; a request during an inspection queues the next one. An inspection therefore never starts
 * before its request, and a thousand requests for one pod cause two inspections.
 */
export class InspectionQueue {
  readonly #inspectPod: (uid: PodUid) => Promise<boolean>;
  readonly #limit: number;
  readonly #queued = new Map<PodUid, QueuedInspection>();
  readonly #running = new Set<PodUid>();

  constructor(limit: number, inspectPod: (uid: PodUid) => Promise<boolean>) {
    this.#limit = limit;
    this.#inspectPod = inspectPod;
  }

  /** Requests an inspection. Resolves with whether the pod has changed. Rejects if the inspection rejects. */
  inspect(uid: PodUid): Promise<boolean> {
    const queued = this.#queued.get(uid) ?? this.#enqueue(uid);
    this.#startNext();
    return queued.inspection;
  }

  /** Reports whether an inspection of the pod is queued or running. */
  has(uid: PodUid): boolean {
    return this.#queued.has(uid) || this.#running.has(uid);
  }

  #enqueue(uid: PodUid): QueuedInspection {
    let resolveStarted = (): void => undefined;
    const started = new Promise<void>((resolve) => {
      resolveStarted = resolve;
    });
    const inspection = started.then(() => this.#inspectPod(uid));
    const start = async (): Promise<void> => {
      resolveStarted();
      try {
        await inspection;
      } catch {
        // The callers of inspect() get the error.
      }
    };
    const queued = {inspection, start};
    this.#queued.set(uid, queued);
    return queued;
  }

  /** Starts queued inspections in the order of their requests. */
  #startNext(): void {
    for (const [uid, {start}] of this.#queued) {
      if (this.#running.size >= this.#limit) return;
      if (this.#running.has(uid)) continue;
      this.#queued.delete(uid);
      this.#running.add(uid);
      const ended = start().then(() => {
        this.#running.delete(uid);
        this.#startNext();
      });
      runInBackground('PLEG', ended);
    }
  }
}
