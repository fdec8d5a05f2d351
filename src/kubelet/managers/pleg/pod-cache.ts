import type {Clock} from '../../../base/clock.js';
import {abortable} from '../../../base/async/abortable.js';
import type {PodUid} from '../../../cri/index.js';
import type {PodCache} from '../../contract/pleg.js';
import type {RuntimePodStatus} from '../../contract/runtime-pod-status.js';

/** Start of an inspection: its time in ms since the epoch, and its place among the changes that were noticed. */
export interface InspectionStart {
  readonly readAt: number;
  readonly change: number;
}

interface Entry {
  readonly status: RuntimePodStatus;
  /** Error of the last inspection, if it failed. */
  readonly failure?: {readonly cause: unknown};
  /** Start of the inspection. */
  readonly start: InspectionStart;
  /** The last noticed change of the pod; 0 for none. */
  readonly change: number;
}

/**
 * Reports whether the pod has changed since the start of the inspection, even if that has ended later. A later relist
 * does not make such an entry newer.
 */
function isOutdated({change, start}: Entry): boolean {
  return change > start.change;
}

/** Time earlier than all other times. */
const NEVER = Number.NEGATIVE_INFINITY;

/**
 * Cache of pod statuses as of their last inspection (kubelet container/cache.go). A request for a newer status inspects
 * the pod immediately, whereas the kubelet's workers wait for the next relist. No sync waits for a relist, or for a
 * clock that was set back, because an inspection that starts after the request is new enough.
 */
export class RuntimePodCache implements PodCache {
  readonly #clock: Clock;
  readonly #inspect: (uid: PodUid) => Promise<unknown>;
  readonly #entries = new Map<PodUid, Entry>();
  /** Start time of the last relist. Entries that are not outdated are as new as this relist. */
  #listedAt = NEVER;
  #latest = NEVER;
  /** Number of changes that were noticed. */
  #changes = 0;

  /** `inspect` starts an inspection of the pod and stores the result in the cache. */
  constructor(clock: Clock, inspect: (uid: PodUid) => Promise<unknown>) {
    this.#clock = clock;
    this.#inspect = inspect;
  }

  get(uid: PodUid): RuntimePodStatus {
    const entry = this.#entries.get(uid);
    if (entry?.failure !== undefined) throw entry.failure.cause;
    return entry?.status ?? emptyStatus(uid);
  }

  async getNewerThan(uid: PodUid, time: number, signal: AbortSignal): Promise<RuntimePodStatus> {
    signal.throwIfAborted();
    if (!this.#isNewer(uid, time)) await abortable(this.#inspect(uid), signal);
    return this.get(uid);
  }

  /** Number of pods in the cache. */
  get size(): number {
    return this.#entries.size;
  }

  /** Returns the start of an inspection that starts now. */
  startInspection(): InspectionStart {
    return {readAt: this.#clock.now(), change: this.#changes};
  }

  /** Stores the result of an inspection. Removes a pod without containers and sandboxes, unless it has changed since. */
  set(uid: PodUid, status: RuntimePodStatus, start: InspectionStart): void {
    const {change = 0} = this.#entries.get(uid) ?? {};
    const isEmpty = status.containers.length + status.sandboxes.length === 0;
    if (isEmpty && change <= start.change) this.#entries.delete(uid);
    else this.#put(uid, {status: this.#withLastIps(status), start, change});
  }

  /** Stores the error of an inspection. Reads throw it until an inspection succeeds. */
  setError(uid: PodUid, cause: unknown, start: InspectionStart): void {
    const {change = 0} = this.#entries.get(uid) ?? {};
    this.#put(uid, {status: this.#lastStatus(uid), failure: {cause}, start, change});
  }

  /** Records a change of a pod: inspections that started before it are outdated. */
  markStale(uid: PodUid): void {
    this.#changes += 1;
    const entry = this.#entries.get(uid) ?? {status: emptyStatus(uid), start: {readAt: NEVER, change: 0}};
    this.#entries.set(uid, {...entry, change: this.#changes});
  }

  delete(uid: PodUid): void {
    this.#entries.delete(uid);
  }

  /** Records a relist that started at `time`: entries that are not outdated are as new as this (UpdateTime). */
  updateTime(time: number): void {
    this.#listedAt = this.#timeOf(time);
  }

  #put(uid: PodUid, entry: Entry): void {
    this.#entries.set(uid, withReadAt(entry, this.#timeOf(entry.start.readAt)));
  }

  #isNewer(uid: PodUid, time: number): boolean {
    this.#resetIfClockWentBack();
    const entry = this.#entries.get(uid);
    if (entry === undefined) return this.#listedAt > time;
    return entry.start.readAt > time || (!isOutdated(entry) && this.#listedAt > time);
  }

  /** Returns NEVER for a time from before the clock was set back, which cannot be compared with the current time. */
  #timeOf(time: number): number {
    return time > this.#resetIfClockWentBack() ? NEVER : time;
  }

  /** Returns the current time. If the clock was set back, marks all entries as old. */
  #resetIfClockWentBack(): number {
    const now = this.#clock.now();
    if (now < this.#latest) {
      this.#listedAt = NEVER;
      for (const [uid, entry] of this.#entries) this.#entries.set(uid, withReadAt(entry, NEVER));
    }
    this.#latest = now;
    return now;
  }

  #lastStatus(uid: PodUid): RuntimePodStatus {
    return this.#entries.get(uid)?.status ?? emptyStatus(uid);
  }

  /** Adds the last IPs to the status of a terminated pod, which has no network (pleg getPodIPs). */
  #withLastIps(status: RuntimePodStatus): RuntimePodStatus {
    if (status.ips.length > 0 || status.sandboxes.some(({state}) => state === 'SANDBOX_READY')) return status;
    return {...status, ips: this.#lastStatus(status.uid).ips};
  }
}

function withReadAt(entry: Entry, readAt: number): Entry {
  return {...entry, start: {...entry.start, readAt}};
}

function emptyStatus(uid: PodUid): RuntimePodStatus {
  return {uid, name: '', namespace: '', sandboxes: [], containers: [], ips: []};
}
