import type {PodUid} from '../../../cri/index.js';

/** Queue that lets one static pod per full name run at a time; the others wait in order (allowStaticPodStart). */
export class StaticPodStartQueue {
  readonly #started = new Map<string, PodUid>();
  readonly #waiting = new Map<string, PodUid[]>();

  /** Reports whether the pod may start; if not, it waits behind earlier requests. */
  tryStart(fullName: string, uid: PodUid): boolean {
    const holder = this.#started.get(fullName);
    if (holder === uid) return true;
    const waiting = this.#waiting.get(fullName) ?? [];
    if (!waiting.includes(uid)) waiting.push(uid);
    if (holder !== undefined || waiting[0] !== uid) {
      this.#waiting.set(fullName, waiting);
      return false;
    }
    this.#started.set(fullName, uid);
    this.#setWaiting(fullName, waiting.slice(1));
    return true;
  }

  /** Releases the turn of a pod that finished or never starts; returns the next pod. */
  release(fullName: string, uid: PodUid): PodUid | undefined {
    if (this.#started.get(fullName) === uid) this.#started.delete(fullName);
    const waiting = (this.#waiting.get(fullName) ?? []).filter((other) => other !== uid);
    this.#setWaiting(fullName, waiting);
    return this.#started.has(fullName) ? undefined : waiting[0];
  }

  #setWaiting(fullName: string, waiting: PodUid[]): void {
    if (waiting.length === 0) this.#waiting.delete(fullName);
    else this.#waiting.set(fullName, waiting);
  }
}
