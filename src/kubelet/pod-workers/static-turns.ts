import type {PodUid} from '../../cri/index.js';

/** Of static pods with one full name only one runs at a time; the others wait in turn (allowStaticPodStart). */
export class StaticTurns {
  readonly #started = new Map<string, PodUid>();
  readonly #waiting = new Map<string, PodUid[]>();

  /** Whether it is the pod's turn; if not it waits behind those that asked before. */
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
    this.#keepWaiting(fullName, waiting.slice(1));
    return true;
  }

  /** The pod has ended or will never start: gives the one whose turn comes then. */
  leave(fullName: string, uid: PodUid): PodUid | undefined {
    if (this.#started.get(fullName) === uid) this.#started.delete(fullName);
    const waiting = (this.#waiting.get(fullName) ?? []).filter((other) => other !== uid);
    this.#keepWaiting(fullName, waiting);
    return this.#started.has(fullName) ? undefined : waiting[0];
  }

  #keepWaiting(fullName: string, waiting: PodUid[]): void {
    if (waiting.length === 0) this.#waiting.delete(fullName);
    else this.#waiting.set(fullName, waiting);
  }
}
