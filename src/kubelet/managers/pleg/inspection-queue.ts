import {runInBackground} from '../../../base/async/background-work.js';
import type {PodUid} from '../../../cri/index.js';
import type {CacheMark} from '../../contract/pleg.js';

interface QueuedInspection {
  readonly inspection: Promise<boolean>;
  readonly start: (mark: CacheMark) => Promise<void>;
}

interface RunningInspection {
  readonly inspection: Promise<boolean>;
  readonly mark: CacheMark;
}

/** Options of {@link InspectionQueue}. */
export interface InspectionQueueOptions {
  /** Maximum number of inspections at a time. */
  readonly limit: number;
  /** Returns the mark of the start of an inspection. */
  readonly mark: () => CacheMark;
  /** Inspects a pod. Resolves with whether it has changed. */
  readonly inspectPod: (uid: PodUid, start: CacheMark) => Promise<boolean>;
}

/**
 * Runs inspections of pods: at most one at a time for each pod, and at most `limit` in total. A request for a queued
 * pod joins its inspection; a request during an inspection queues the next one, unless it names a mark and the running
 * inspection started after it. A thousand requests for one pod therefore cause two inspections.
 */
export class InspectionQueue {
  readonly #options: InspectionQueueOptions;
  readonly #queued = new Map<PodUid, QueuedInspection>();
  readonly #running = new Map<PodUid, RunningInspection>();

  constructor(options: InspectionQueueOptions) {
    this.#options = options;
  }

  /**
   * Requests an inspection that starts after the mark, by default after now. Resolves with whether the pod has changed.
   * Rejects if the inspection rejects.
   */
  inspect(uid: PodUid, after?: CacheMark): Promise<boolean> {
    const running = this.#running.get(uid);
    if (running !== undefined && after !== undefined && running.mark > after) return running.inspection;
    const queued = this.#queued.get(uid) ?? this.#enqueue(uid);
    this.#startNext();
    return queued.inspection;
  }

  /** Reports whether an inspection of the pod is queued or running. */
  has(uid: PodUid): boolean {
    return this.#queued.has(uid) || this.#running.has(uid);
  }

  #enqueue(uid: PodUid): QueuedInspection {
    let resolveStarted: (mark: CacheMark) => void = () => undefined;
    const started = new Promise<CacheMark>((resolve) => {
      resolveStarted = resolve;
    });
    const inspection = started.then((mark) => this.#options.inspectPod(uid, mark));
    const start = async (mark: CacheMark): Promise<void> => {
      resolveStarted(mark);
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
    for (const [uid, {start, inspection}] of this.#queued) {
      if (this.#running.size >= this.#options.limit) return;
      if (this.#running.has(uid)) continue;
      this.#queued.delete(uid);
      const mark = this.#options.mark();
      this.#running.set(uid, {inspection, mark});
      const ended = start(mark).then(() => {
        this.#running.delete(uid);
        this.#startNext();
      });
      runInBackground('PLEG', ended);
    }
  }
}
