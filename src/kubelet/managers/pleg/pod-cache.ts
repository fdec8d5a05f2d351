import type {Clock} from '../../../base/clock.js';
import {abortable} from '../../../base/async/abortable.js';
import type {PodUid} from '../../../cri/index.js';
import type {PodCache} from '../../contract/pleg.js';
import type {RuntimePodStatus} from '../../contract/runtime-pod-status.js';

interface Entry {
  readonly status: RuntimePodStatus;
  /** Error of the last inspection, if it failed. */
  readonly failure?: {readonly cause: unknown};
  /** Start time of the inspection, in ms since the epoch. */
  readonly readAt: number;
  /** True if the pod has changed since then; a later relist does not make such an entry newer. */
  readonly isOutdated: boolean;
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

  /** Stores the result of an inspection that started at `readAt`. Removes a pod without containers and sandboxes. */
  set(uid: PodUid, status: RuntimePodStatus, readAt: number): void {
    if (status.containers.length + status.sandboxes.length === 0) this.#entries.delete(uid);
    else this.#put(uid, {status: this.#withLastIps(status), readAt, isOutdated: false});
  }

  /** Stores the error of an inspection that started at `readAt`. Reads throw it until an inspection succeeds. */
  setError(uid: PodUid, cause: unknown, readAt: number): void {
    this.#put(uid, {status: this.#lastStatus(uid), failure: {cause}, readAt, isOutdated: false});
  }

  /** Marks the status of a pod as outdated. */
  markStale(uid: PodUid): void {
    const entry = this.#entries.get(uid) ?? {status: emptyStatus(uid), readAt: NEVER};
    this.#entries.set(uid, {...entry, isOutdated: true});
  }

  delete(uid: PodUid): void {
    this.#entries.delete(uid);
  }

  /** Records a relist that started at `time`: entries that are not outdated are as new as this (UpdateTime). */
  updateTime(time: number): void {
    this.#listedAt = this.#timeOf(time);
  }

  #put(uid: PodUid, entry: Entry): void {
    this.#entries.set(uid, {...entry, readAt: this.#timeOf(entry.readAt)});
  }

  #isNewer(uid: PodUid, time: number): boolean {
    this.#resetIfClockWentBack();
    const entry = this.#entries.get(uid);
    if (entry === undefined) return this.#listedAt > time;
    return entry.readAt > time || (!entry.isOutdated && this.#listedAt > time);
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
      for (const [uid, entry] of this.#entries) this.#entries.set(uid, {...entry, readAt: NEVER});
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

function emptyStatus(uid: PodUid): RuntimePodStatus {
  return {uid, name: '', namespace: '', sandboxes: [], containers: [], ips: []};
}
