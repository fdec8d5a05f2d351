import type {PodStatus} from '../../api/v1-status.js';
import type {Clock} from '../../base/clock.js';
import type {PodUid} from '../../cri/index.js';
import type {EventSink} from '../container/events.js';
import type {WaitingReason} from '../status/container-status.js';
import {PodFiles} from './pod-files.js';
import {HistoryWriter} from './history-writer.js';
import {
  isOccurrence,
  occurrenceOf,
  withOccurrences,
  type Occurrence,
  type RecordedEvent,
} from './recorded-event.js';

/** That a pod is being deleted, as its metadata say. */
export interface PodDeletion {
  /** When it is to be gone, RFC 3339. */
  readonly deletionTimestamp: string;
  readonly deletionGracePeriodSeconds: number;
}

/** That a pod is deleted from now on, ms since the epoch, and has so long to end. */
export function deletionAt(nowMs: number, gracePeriodSeconds: number): PodDeletion {
  const until = nowMs + gracePeriodSeconds * 1000;
  return {
    deletionTimestamp: new Date(until).toISOString(),
    deletionGracePeriodSeconds: gracePeriodSeconds,
  };
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
  /** Resolves when all is written that was said before, or can't be. */
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
 * What kcri keeps of its pods for who looks later: their last events in `<rootDir>/events/<uid>.json`, to which an
 * event is only added until there are so many that they are merged; and their last known status in
 * `<rootDir>/statuses/<uid>.json`. Both go with the pod. Reading rejects with SystemError.
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
    const file = await this.#events.read(uid);
    if (file === undefined) return [];
    return withOccurrences(file.value.events, file.added.filter(isOccurrence) as unknown as Occurrence[]);
  }

  async lastKnown(uid: PodUid): Promise<LastKnown | undefined> {
    return (await this.#statuses.read(uid))?.value;
  }

  /**
   * The history of one pod, which only one process at a time may write. It is written at once and in order, but
   * nobody waits: a disk that is full keeps no pod from being started or ended. `onFailure` is told when writing
   * begins to fail; what could not be written is tried again with what comes next, and when all is to be settled.
   */
  of(uid: PodUid, onFailure: (error: unknown) => void): PodHistory {
    const now = (): number => this.#clock.now();
    const writer = new HistoryWriter<LastKnown>({
      add: async (occurrences) => this.#events.add(uid, occurrences),
      merge: async (occurrences) => {
        await this.#events.write(uid, {events: withOccurrences(await this.events(uid), occurrences)});
      },
      writeStatus: async (known) => this.#statuses.write(uid, known),
      onFailure,
    });
    return {
      event: (event) => {
        writer.event(occurrenceOf(event, now()));
      },
      lastKnown: async () => await this.lastKnown(uid),
      remember: (known) => {
        writer.status({seenAt: new Date(now()).toISOString(), ...known});
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

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
