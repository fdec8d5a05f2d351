import {hasEnded, type PodStatus} from '../../../api/types/v1-status.js';
import {pause} from '../../../base/async/pause.js';
import type {Clock} from '../../../base/clock.js';
import type {ParsedFiles} from '../../../base/fs/file-cache.js';
import {isObject} from '../../../base/is-object.js';
import type {PodUid} from '../../../cri/index.js';
import type {EventSink} from '../../contract/pod-event.js';
import type {VolumeHistory, VolumeStepSink} from '../../contract/volumes/volume-history.js';
import type {WaitingReason} from '../../contract/waiting-reason.js';
import {PodFileStore} from './pod-file-store.js';
import {HistoryWriter} from './history-writer.js';
import {VolumeHistoryWriter} from './volume-histories.js';
import {
  isOccurrence,
  createOccurrence,
  mergeOccurrences,
  type Occurrence,
  type RecordedEvent,
} from './recorded-event.js';

/** Deletion of a pod, as in its metadata. */
export interface PodDeletion {
  /** End of the grace period, RFC 3339. */
  readonly deletionTimestamp: string;
  readonly deletionGracePeriodSeconds: number;
}

/** Returns the deletion of a pod that starts at `nowMs` (ms since the epoch) with a grace period in seconds. */
export function computeDeletion(nowMs: number, gracePeriodSeconds: number): PodDeletion {
  const until = nowMs + gracePeriodSeconds * 1000;
  return {
    deletionTimestamp: new Date(until).toISOString(),
    deletionGracePeriodSeconds: gracePeriodSeconds,
  };
}

/** Last known state of a pod. */
export interface LastKnown {
  /** Time of the last update, RFC 3339. */
  readonly seenAt: string;
  readonly status: PodStatus;
  /** Waiting reasons by container name. */
  readonly reasons: Readonly<Record<string, WaitingReason>>;
  readonly deletion?: PodDeletion;
}

/** History of one pod. Recording events and status neither rejects nor throws: see PodHistories. */
export interface PodHistory {
  readonly event: EventSink;
  /** Records what happened to volumes of the pod. */
  readonly volume: VolumeStepSink;
  /** Resolves with the last persisted state of the pod; undefined without one. Rejects with SystemError. */
  lastKnown(): Promise<LastKnown | undefined>;
  /** Records the current state of the pod. */
  remember(known: Omit<LastKnown, 'seenAt'>): void;
  /** Resolves when all previous writes have succeeded or failed. */
  flush(): Promise<void>;
}

/** History that records nothing, for the pods of a plan. */
export const NO_HISTORY: PodHistory = {
  event: () => undefined,
  volume: () => undefined,
  lastKnown: async () => undefined,
  remember: () => undefined,
  flush: async () => undefined,
};

/** Time in which what is recorded of a pod is gathered before it is written, in ms. */
const GATHER_MS = 1000;

/** A writer with something to write. */
interface BusyWriter {
  readonly uid: PodUid;
  readonly discard: () => Promise<void>;
}

/**
 * Stores the history of pods for later commands: recent events in `<rootDir>/kcri/events/<uid>.json`, where events are
 * appended and merged from time to time, the last known status in `<rootDir>/kcri/statuses/<uid>.json`, and the histories of volumes
 * in `<rootDir>/kcri/mounts/<uid>.json`. The files are removed with the pod. What is recorded within a second is written together, at
 * the end of that second or on flush(); the status of a pod that has ended or is being deleted is written at once. Reads reject with
 * SystemError.
 */
export class PodHistories {
  readonly #events: PodFileStore<{readonly events: readonly RecordedEvent[]}>;
  readonly #statuses: PodFileStore<LastKnown>;
  readonly #volumes: PodFileStore<{readonly volumes: readonly VolumeHistory[]}>;
  readonly #clock: Clock;
  /** Writers with something to write. */
  readonly #busy = new Set<BusyWriter>();

  /** Creates the store of a root directory; `files` reads the files. */
  constructor(rootDir: string, clock: Clock, files?: ParsedFiles) {
    this.#events = new PodFileStore(rootDir, 'events', ({events}) => Array.isArray(events), files);
    this.#statuses = new PodFileStore(
      rootDir,
      'statuses',
      ({seenAt, status, reasons}) => typeof seenAt === 'string' && isObject(status) && isObject(reasons),
      files,
    );
    this.#volumes = new PodFileStore(
      rootDir,
      'mounts',
      ({volumes}) => Array.isArray(volumes) && volumes.every(isVolumeHistory),
      files,
    );
    this.#clock = clock;
  }

  /** Resolves with the recent events of the pod, oldest first. */
  async events(uid: PodUid): Promise<readonly RecordedEvent[]> {
    const file = await this.#events.read(uid);
    if (file === undefined) return [];
    return mergeOccurrences(file.value.events, file.added.filter(isOccurrence) as unknown as Occurrence[]);
  }

  async lastKnown(uid: PodUid): Promise<LastKnown | undefined> {
    return (await this.#statuses.read(uid))?.value;
  }

  /** Returns `lastKnown` for many pods, which looks at their files only if the status of one has changed. */
  async openLastKnown(): Promise<(uid: PodUid) => Promise<LastKnown | undefined>> {
    const read = await this.#statuses.openReader();
    return async (uid) => (await read(uid))?.value;
  }

  /** Resolves with the histories of the pod's volumes. */
  async volumes(uid: PodUid): Promise<readonly VolumeHistory[]> {
    return (await this.#volumes.read(uid))?.value.volumes ?? [];
  }

  /**
   * Returns the history of one pod, which only one process at a time may write. Writes are ordered and run in the
   * background: a full disk does not prevent a pod from starting or terminating. Calls `onFailure` when writes start
   * to fail; failed writes are retried with the next one and on flush().
   */
  of(uid: PodUid, onFailure: (error: unknown) => void): PodHistory {
    const now = (): number => this.#clock.now();
    const gather = async (signal: AbortSignal): Promise<void> => {
      await pause(this.#clock, GATHER_MS, signal).catch(() => undefined); // hurried
    };
    let hasStatus = true;
    const writer = new HistoryWriter<LastKnown>({
      add: async (occurrences) => this.#events.add(uid, occurrences),
      merge: async (occurrences) => this.#mergeEvents(uid, occurrences),
      writeStatus: async (known) => {
        if (hasStatus || !(await this.#statuses.create(uid, known))) await this.#statuses.write(uid, known);
        hasStatus = true;
      },
      ...{onFailure, gather, onIdle: () => this.#busy.delete(writing)},
    });
    const writing = {uid, discard: async () => writer.discard()};
    const volumes = new VolumeHistoryWriter({
      read: async () => await this.volumes(uid),
      write: async (histories) => this.#volumes.write(uid, {volumes: histories}),
      ...{onFailure, gather, onIdle: () => this.#busy.delete(writingVolumes)},
    });
    const writingVolumes = {uid, discard: async () => volumes.discard()};
    return {
      volume: (step) => {
        this.#busy.add(writingVolumes);
        volumes.add({at: now(), step});
      },
      event: (event) => {
        this.#busy.add(writing);
        writer.event(createOccurrence(event, now()));
      },
      lastKnown: async () => {
        const known = await this.lastKnown(uid);
        hasStatus = known !== undefined;
        return known;
      },
      remember: (known) => {
        this.#busy.add(writing);
        // After a restart, a pod must not run again that has ended.
        const isUrgent = known.deletion !== undefined || hasEnded(known.status.phase);
        writer.status({seenAt: new Date(now()).toISOString(), ...known}, isUrgent);
      },
      flush: async () => {
        await writer.flush();
        await volumes.flush();
      },
    };
  }

  async #mergeEvents(uid: PodUid, occurrences: readonly Occurrence[]): Promise<void> {
    // A new pod has none.
    if (await this.#events.create(uid, {events: mergeOccurrences([], occurrences)})) return;
    await this.#events.write(uid, {events: mergeOccurrences(await this.events(uid), occurrences)});
  }

  /** Removes the history of a pod, and drops what is to be written of it. */
  async delete(uid: PodUid): Promise<void> {
    for (const writer of [...this.#busy]) if (writer.uid === uid) await writer.discard();
    await this.#events.delete(uid);
    await this.#statuses.delete(uid);
    await this.#volumes.delete(uid);
  }
}

function isVolumeHistory(value: unknown): boolean {
  if (!isObject(value)) return false;
  const texts = ['name', 'volume', 'plugin', 'path'];
  const optional = ['stagedAt', 'mountedAt', 'remountedAt', 'unmountedAt', 'lastFailedAt', 'lastError'];
  return (
    texts.every((key) => typeof value[key] === 'string') &&
    ['failures', 'totalFailures'].every((key) => typeof value[key] === 'number') &&
    optional.every((key) => ['undefined', 'string'].includes(typeof value[key]))
  );
}
