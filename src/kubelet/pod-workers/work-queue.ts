import type {PodUid} from '../../cri/index.js';

/** Pods that are to be synced at a time (util/queue work_queue.go). Times are ms since the epoch. */
export class WorkQueue {
  readonly #due = new Map<PodUid, number>();

  /** Replaces the time that the pod had. */
  add(uid: PodUid, at: number): void {
    this.#due.set(uid, at);
  }

  delete(uid: PodUid): void {
    this.#due.delete(uid);
  }

  /** Takes out the pods whose time has come. */
  takeDue(now: number): readonly PodUid[] {
    const due = [...this.#due].filter(([, at]) => at <= now).map(([uid]) => uid);
    for (const uid of due) this.#due.delete(uid);
    return due;
  }

  /** When the pod is to be synced next, or undefined when it waits for nothing. */
  dueAt(uid: PodUid): number | undefined {
    return this.#due.get(uid);
  }
}
