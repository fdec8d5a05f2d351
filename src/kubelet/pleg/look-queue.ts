import type {PodUid} from '../../cri/index.js';

interface Waiting {
  readonly look: Promise<boolean>;
  readonly start: () => Promise<void>;
}

/**
 * Looks at pods, each at most once at a time, and at most so many at once. Who asks for a pod that already waits to be
 * looked at gets that look; who asks while it is being looked at gets the next one. So a look never began before it
 * was asked for, and a thousand requests for one pod are two looks.
 */
export class LookQueue {
  readonly #act: (uid: PodUid) => Promise<boolean>;
  readonly #limit: number;
  readonly #waiting = new Map<PodUid, Waiting>();
  readonly #running = new Set<PodUid>();

  constructor(limit: number, act: (uid: PodUid) => Promise<boolean>) {
    this.#limit = limit;
    this.#act = act;
  }

  /** Settles as the look does, with whether anything had changed. */
  look(uid: PodUid): Promise<boolean> {
    const waiting = this.#waiting.get(uid) ?? this.#enqueue(uid);
    this.#startNext();
    return waiting.look;
  }

  /** Whether the pod is being looked at or waits for it. */
  has(uid: PodUid): boolean {
    return this.#waiting.has(uid) || this.#running.has(uid);
  }

  #enqueue(uid: PodUid): Waiting {
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const look = begun.then(() => this.#act(uid));
    const start = async (): Promise<void> => {
      begin();
      try {
        await look;
      } catch {
        // Who asked for it is told.
      }
    };
    const waiting = {look, start};
    this.#waiting.set(uid, waiting);
    return waiting;
  }

  /** In the order in which they were asked for. */
  #startNext(): void {
    for (const [uid, {start}] of this.#waiting) {
      if (this.#running.size >= this.#limit) return;
      if (this.#running.has(uid)) continue;
      this.#waiting.delete(uid);
      this.#running.add(uid);
      void start().then(() => {
        this.#running.delete(uid);
        this.#startNext();
      });
    }
  }
}
