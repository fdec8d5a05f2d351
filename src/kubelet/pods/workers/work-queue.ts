import type {PodUid} from '../../../cri/index.js';

/** Queue of pods with the time of their next sync, in ms of the monotonic clock (util/queue work_queue.go). */
export class WorkQueue {
  readonly #due = new Map<PodUid, number>();

  /** Sets the time of the pod's next sync. */
  add(uid: PodUid, at: number): void {
    this.#due.set(uid, at);
  }

  delete(uid: PodUid): void {
    this.#due.delete(uid);
  }

  /** Removes and returns the pods that are due. */
  takeDue(now: number): readonly PodUid[] {
    const due = [...this.#due].filter(([, at]) => at <= now).map(([uid]) => uid);
    for (const uid of due) this.#due.delete(uid);
    return due;
  }

  /** Returns the time of the pod's next sync; undefined if none is queued. */
  dueAt(uid: PodUid): number | undefined {
    return this.#due.get(uid);
  }
}
