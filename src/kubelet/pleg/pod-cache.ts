import type {Clock} from '../../base/clock.js';
import {unlessAborted} from '../../base/unless-aborted.js';
import type {PodUid} from '../../cri/index.js';
import type {PodCache} from '../container/pleg.js';
import type {RuntimePodStatus} from '../container/pod-status.js';

interface Entry {
  readonly status: RuntimePodStatus;
  /** Why there is no newer status. */
  readonly failure?: {readonly cause: unknown};
  /** When the look began that it is of. */
  readonly readAt: number;
  /** Something has changed since: that all of the runtime was listed says nothing of this pod. */
  readonly isOutdated: boolean;
}

/** Older than everything. */
const NEVER = Number.NEGATIVE_INFINITY;

/**
 * What runs of pods as it was last read (kubelet container/cache.go). Unlike a kubelet's, whose workers wait for the
 * next relist, who asks here for something newer than there is has the pod looked at, at once: no sync waits for a
 * tick, and none waits for a clock that was put back, because a look that begins after the question is new enough
 * whatever the clock says.
 */
export class RuntimePodCache implements PodCache {
  readonly #clock: Clock;
  readonly #look: (uid: PodUid) => Promise<unknown>;
  readonly #entries = new Map<PodUid, Entry>();
  /** When the last list of everything began: of what hasn't changed since, the cache is that new. */
  #listedAt = NEVER;
  #latest = NEVER;

  /** `look` begins a look at the pod after it was called, and puts here what it finds. */
  constructor(clock: Clock, look: (uid: PodUid) => Promise<unknown>) {
    this.#clock = clock;
    this.#look = look;
  }

  get(uid: PodUid): RuntimePodStatus {
    const entry = this.#entries.get(uid);
    if (entry?.failure !== undefined) throw entry.failure.cause;
    return entry?.status ?? emptyStatus(uid);
  }

  async getNewerThan(uid: PodUid, time: number, signal: AbortSignal): Promise<RuntimePodStatus> {
    signal.throwIfAborted();
    if (!this.#isNewer(uid, time)) await unlessAborted(this.#look(uid), signal);
    return this.get(uid);
  }

  /** How many pods are known. */
  get size(): number {
    return this.#entries.size;
  }

  /** What a look has found that began at `readAt`. Of a pod of which there is nothing any more nothing is kept. */
  set(uid: PodUid, status: RuntimePodStatus, readAt: number): void {
    if (status.containers.length + status.sandboxes.length === 0) this.#entries.delete(uid);
    else this.#put(uid, {status: this.#withKeptIps(status), readAt, isOutdated: false});
  }

  /** The look that began at `readAt` has failed: who asks is told why, until one succeeds. */
  fail(uid: PodUid, cause: unknown, readAt: number): void {
    this.#put(uid, {status: this.#lastStatus(uid), failure: {cause}, readAt, isOutdated: false});
  }

  /** Something is different from what was read; a look is due. */
  outdate(uid: PodUid): void {
    const entry = this.#entries.get(uid) ?? {status: emptyStatus(uid), readAt: NEVER};
    this.#entries.set(uid, {...entry, isOutdated: true});
  }

  delete(uid: PodUid): void {
    this.#entries.delete(uid);
  }

  /** Everything was listed, beginning at `time`: what isn't outdated is that new (UpdateTime). */
  updateTime(time: number): void {
    this.#listedAt = this.#timeOf(time);
  }

  #put(uid: PodUid, entry: Entry): void {
    this.#entries.set(uid, {...entry, readAt: this.#timeOf(entry.readAt)});
  }

  #isNewer(uid: PodUid, time: number): boolean {
    this.#mindClock();
    const entry = this.#entries.get(uid);
    if (entry === undefined) return this.#listedAt > time;
    return entry.readAt > time || (!entry.isOutdated && this.#listedAt > time);
  }

  /** A time that the clock has shown before it was put back can't be compared with what it shows now. */
  #timeOf(time: number): number {
    return time > this.#mindClock() ? NEVER : time;
  }

  /** After the clock was put back nothing counts as new. */
  #mindClock(): number {
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

  /** A pod that has ended keeps its addresses, though its network is gone (pleg getPodIPs). */
  #withKeptIps(status: RuntimePodStatus): RuntimePodStatus {
    if (status.ips.length > 0 || status.sandboxes.some(({state}) => state === 'SANDBOX_READY')) return status;
    return {...status, ips: this.#lastStatus(status.uid).ips};
  }
}

function emptyStatus(uid: PodUid): RuntimePodStatus {
  return {uid, name: '', namespace: '', sandboxes: [], containers: [], ips: []};
}
