import {abortable} from '../../../base/async/abortable.js';
import type {PodUid} from '../../../cri/index.js';
import type {CacheMark, PodCache} from '../../contract/pleg.js';
import {emptyPodStatus, type RuntimePodStatus} from '../../contract/runtime-pod-status.js';

interface Entry {
  readonly status: RuntimePodStatus;
  /** Error of the last inspection, if it failed. */
  readonly failure?: {readonly cause: unknown};
  /** Start of the inspection. */
  readonly start: CacheMark;
  /** The last noticed change of the pod. */
  readonly change: CacheMark;
}

/**
 * Reports whether the pod has changed since the start of the inspection, even if that has ended later. A later relist
 * does not make such an entry newer.
 */
function isOutdated({change, start}: Entry): boolean {
  return change > start;
}

/** Mark before all others. */
const NEVER: CacheMark = 0;

/**
 * Cache of pod statuses as of their last inspection (kubelet container/cache.go). A request for a newer status inspects
 * the pod immediately, whereas the kubelet's workers wait for the next relist. No sync waits for a relist, because an
 * inspection that starts after the request is new enough. Marks are counted, so the node's clock has no effect.
 */
export class RuntimePodCache implements PodCache {
  readonly #inspect: (uid: PodUid, after: CacheMark) => Promise<unknown>;
  readonly #entries = new Map<PodUid, Entry>();
  /** Start of the last relist. Entries that are not outdated are as new as this relist. */
  #listed = NEVER;
  #last = NEVER;

  /** `inspect` stores the result of an inspection of the pod that starts after a mark, and resolves when it has. */
  constructor(inspect: (uid: PodUid, after: CacheMark) => Promise<unknown>) {
    this.#inspect = inspect;
  }

  mark(): CacheMark {
    this.#last += 1;
    return this.#last;
  }

  get(uid: PodUid): RuntimePodStatus {
    const entry = this.#entries.get(uid);
    if (entry?.failure !== undefined) throw entry.failure.cause;
    return entry?.status ?? emptyPodStatus(uid);
  }

  lastSeen(uid: PodUid): RuntimePodStatus | undefined {
    const entry = this.#entries.get(uid);
    return entry?.failure === undefined ? (entry?.status ?? emptyPodStatus(uid)) : undefined;
  }

  async getNewerThan(uid: PodUid, mark: CacheMark, signal: AbortSignal): Promise<RuntimePodStatus> {
    signal.throwIfAborted();
    if (!this.#isNewer(uid, mark)) await abortable(this.#inspect(uid, mark), signal);
    return this.get(uid);
  }

  /** Number of pods in the cache. */
  get size(): number {
    return this.#entries.size;
  }

  /** Stores the result of an inspection. Removes a pod without containers and sandboxes, unless it has changed since. */
  set(uid: PodUid, status: RuntimePodStatus, start: CacheMark): void {
    const {change = NEVER} = this.#entries.get(uid) ?? {};
    const isEmpty = status.containers.length + status.sandboxes.length === 0;
    if (isEmpty && change <= start) this.#entries.delete(uid);
    else this.#entries.set(uid, {status: this.#withLastIps(status), start, change});
  }

  /** Stores the error of an inspection. Reads throw it until an inspection succeeds. */
  setError(uid: PodUid, cause: unknown, start: CacheMark): void {
    const {change = NEVER} = this.#entries.get(uid) ?? {};
    this.#entries.set(uid, {status: this.#lastStatus(uid), failure: {cause}, start, change});
  }

  /** Records a change of a pod: inspections that started before it are outdated. */
  markStale(uid: PodUid): void {
    const entry = this.#entries.get(uid) ?? {status: emptyPodStatus(uid), start: NEVER};
    this.#entries.set(uid, {...entry, change: this.mark()});
  }

  delete(uid: PodUid): void {
    this.#entries.delete(uid);
  }

  /** Records a relist that started at this mark: entries that are not outdated are as new as it (UpdateTime). */
  relisted(start: CacheMark): void {
    this.#listed = start;
  }

  #isNewer(uid: PodUid, mark: CacheMark): boolean {
    const entry = this.#entries.get(uid);
    if (entry === undefined) return this.#listed > mark;
    return entry.start > mark || (!isOutdated(entry) && this.#listed > mark);
  }

  #lastStatus(uid: PodUid): RuntimePodStatus {
    return this.#entries.get(uid)?.status ?? emptyPodStatus(uid);
  }

  /** Adds the last IPs to the status of a terminated pod, which has no network (pleg getPodIPs). */
  #withLastIps(status: RuntimePodStatus): RuntimePodStatus {
    if (status.ips.length > 0 || status.sandboxes.some(({state}) => state === 'SANDBOX_READY')) return status;
    return {...status, ips: this.#lastStatus(status.uid).ips};
  }
}
