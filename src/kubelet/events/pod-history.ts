import type {PodStatus} from '../../api/v1-status.js';
import type {Clock} from '../../base/clock.js';
import type {PodUid} from '../../cri/index.js';
import type {EventSink, PodEvent} from '../container/events.js';
import type {WaitingReason} from '../status/container-status.js';
import {PodFiles} from './pod-files.js';
import {correlate, type RecordedEvent} from './recorded-event.js';

/** That a pod is being deleted, as its metadata say. */
export interface PodDeletion {
  /** When it is to be gone, RFC 3339. */
  readonly deletionTimestamp: string;
  readonly deletionGracePeriodSeconds: number;
}

/** What was last known of a pod. */
export interface LastKnown {
  /** When that was, RFC 3339. */
  readonly seenAt: string;
  readonly status: PodStatus;
  /** Why containers were not running, by name. */
  readonly reasons: Readonly<Record<string, WaitingReason>>;
  readonly deletion?: PodDeletion;
}

/** Takes down what happens to one pod. Writing neither rejects nor throws: see PodHistories. */
export interface PodHistory {
  readonly event: EventSink;
  /** What was known of the pod before. Rejects with SystemError. */
  lastKnown(): Promise<LastKnown | undefined>;
  /** What is known of the pod now. */
  remember(known: Omit<LastKnown, 'seenAt'>): void;
  /** Resolves when all is written that was said before. */
  settled(): Promise<void>;
}

/** For pods that nothing is kept of: those of a plan. */
export const NO_HISTORY: PodHistory = {
  event: () => undefined,
  lastKnown: async () => undefined,
  remember: () => undefined,
  settled: async () => undefined,
};

/**
 * What kcri keeps of its pods for who looks later: their last events in `<rootDir>/events/<uid>.json`, and their last
 * known status in `<rootDir>/statuses/<uid>.json`. Both go with the pod. Reading rejects with SystemError.
 */
export class PodHistories {
  readonly #events: PodFiles<{readonly events: readonly RecordedEvent[]}>;
  readonly #statuses: PodFiles<LastKnown>;
  readonly #clock: Clock;

  constructor(rootDir: string, clock: Clock) {
    this.#events = new PodFiles(rootDir, 'events', ({events}) => Array.isArray(events));
    this.#statuses = new PodFiles(
      rootDir,
      'statuses',
      ({seenAt, status, reasons}) => typeof seenAt === 'string' && isObject(status) && isObject(reasons),
    );
    this.#clock = clock;
  }

  /** What happened last to the pod, oldest first. */
  async events(uid: PodUid): Promise<readonly RecordedEvent[]> {
    return (await this.#events.read(uid))?.events ?? [];
  }

  async lastKnown(uid: PodUid): Promise<LastKnown | undefined> {
    return await this.#statuses.read(uid);
  }

  /**
   * The history of one pod, which only one process at a time may write. It is written at once and in order, but
   * nobody waits: a disk that is full keeps no pod from being started or ended. Then `onFailure` is told, once.
   */
  of(uid: PodUid, onFailure: (error: unknown) => void): PodHistory {
    const writer = new Writer(onFailure);
    let pending: {readonly event: PodEvent; readonly at: number}[] = [];
    const writeEvents = async (): Promise<void> => {
      const added = pending;
      pending = [];
      if (added.length === 0) return;
      const before = await this.events(uid);
      const events = added.reduce((list, {event, at}) => correlate(list, event, at), before);
      await this.#events.write(uid, {events});
    };
    return {
      event: (event) => {
        pending.push({event, at: this.#clock.now()});
        writer.next(writeEvents);
      },
      lastKnown: async () => await this.lastKnown(uid),
      remember: (known) => {
        const seenAt = new Date(this.#clock.now()).toISOString();
        writer.next(async () => {
          await this.#statuses.write(uid, {seenAt, ...known});
        });
      },
      settled: async () => {
        await writer.settled();
      },
    };
  }

  async delete(uid: PodUid): Promise<void> {
    await this.#events.delete(uid);
    await this.#statuses.delete(uid);
  }
}

/** Does one thing after the other and tells of the first that fails. */
class Writer {
  readonly #onFailure: (error: unknown) => void;
  #last: Promise<void> = Promise.resolve();
  #failed = false;

  constructor(onFailure: (error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  next(act: () => Promise<void>): void {
    this.#last = this.#last.then(act).catch((error: unknown) => {
      if (!this.#failed) this.#onFailure(error);
      this.#failed = true;
    });
  }

  async settled(): Promise<void> {
    await this.#last;
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
