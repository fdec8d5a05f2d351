import {setMaxListeners} from 'node:events';
import type {Clock} from '../../base/clock.js';
import type {PodUid, RuntimeService} from '../../cri/index.js';
import type {PodLifecycleEvent, RunningPod} from '../container/pleg.js';
import type {RuntimePodStatus} from '../container/pod-status.js';
import type {KubeRuntimeService} from '../container/services.js';
import {readPodStatus} from '../kuberuntime/runtime-status.js';
import {LookQueue} from './look-queue.js';
import type {PlegNotice} from './pleg-notice.js';
import {RuntimePodCache} from './pod-cache.js';
import {
  lifecycleEvents,
  named,
  sameStates,
  statesOf,
  type ListedPod,
  type PlegState,
  type PodStates,
} from './relist-diff.js';

/** What a PLEG works with. */
export interface PlegOptions {
  readonly runtime: KubeRuntimeService & Pick<RuntimeService, 'streamContainers' | 'streamPodSandboxes'>;
  readonly clock: Clock;
  /** Whether a pod is kcri's; of others nothing is read or told. */
  readonly isOurs: (uid: PodUid) => boolean;
  /** Takes an event; false when there is no room for it, as AsyncQueue.push. */
  readonly push: (event: PodLifecycleEvent) => boolean;
  readonly notice: (notice: PlegNotice) => void;
  /** Ends it: looks under way are given up, and who waits for them gets its reason. */
  readonly signal: AbortSignal;
}

/** How many pods are read at once: enough that one that hangs holds up no other, few enough that a runtime can bear. */
const LOOKS_AT_ONCE = 16;

const NOTHING: PodStates = new Map();

/**
 * Looks at pods one by one: reads what runs of a pod, puts it into the cache and tells what has changed since the
 * look before. Relists, the runtime's events, requests and workers' questions only say which pod to look at, so none
 * of them can be told too often, too late or in the wrong order.
 */
export class PodLooks {
  readonly cache: RuntimePodCache;
  readonly #options: PlegOptions;
  readonly #queue: LookQueue;
  /** What the last looks found; it goes on only when the pod could be read. */
  readonly #records = new Map<PodUid, PodStates>();
  /** Which pod a container or sandbox is of. */
  readonly #owners = new Map<string, PodUid>();
  /** All pods in the runtime, each as last seen. */
  #listed = new Map<PodUid, ListedPod>();
  readonly #lookAgain = new Set<PodUid>();
  readonly #untold = new Set<PodUid>();

  constructor(options: PlegOptions) {
    this.#options = options;
    // Every call that runs listens to it.
    setMaxListeners(0, options.signal);
    this.#queue = new LookQueue(LOOKS_AT_ONCE, (uid) => this.#look(uid));
    this.cache = new RuntimePodCache(options.clock, (uid) => this.look(uid));
  }

  /** Looks at the pod soon; gives whether anything had changed. Rejects only with the signal's reason. */
  look(uid: PodUid): Promise<boolean> {
    return this.#queue.look(uid);
  }

  /** Whether a look at the pod is under way or will be. */
  isDue(uid: PodUid): boolean {
    return this.#queue.has(uid);
  }

  /** Whether there was anything of the pod when it was last looked at. */
  knows(uid: PodUid): boolean {
    return this.#records.has(uid);
  }

  /** The pod has to be looked at again, with the next relist, and its worker told that it was. */
  lookAgain(uid: PodUid): void {
    this.#lookAgain.add(uid);
  }

  /** Whether something is to be done again that has failed. */
  get hasUnfinished(): boolean {
    return this.#lookAgain.size + this.#untold.size > 0;
  }

  /** All pods, as last seen. */
  runningPods(): readonly RunningPod[] {
    return [...this.#listed.values()];
  }

  /** The pod that a container or sandbox is of, if it has been seen. */
  ownerOf(id: string): PodUid | undefined {
    return this.#owners.get(id);
  }

  /** The state of a container or sandbox as last seen; undefined for one that is not there. */
  stateOf(uid: PodUid, id: string): PlegState | undefined {
    return this.#records.get(uid)?.get(id);
  }

  /** Takes what the whole runtime was listed to have, and gives which of kcri's pods must be looked at for it. */
  relisted(pods: Map<PodUid, ListedPod>): readonly PodUid[] {
    this.#listed = pods;
    const uids = new Set([...pods.keys(), ...this.#records.keys(), ...this.#lookAgain]);
    const due: PodUid[] = [];
    for (const uid of uids) {
      if (!this.#options.isOurs(uid)) this.#forget(uid);
      else if (this.#differs(uid, pods.get(uid)?.states)) due.push(uid);
    }
    for (const uid of due) this.cache.outdate(uid);
    return due;
  }

  /** Has the pods synced of which something could not be told for want of room. */
  tellUntold(): void {
    const {isOurs, push} = this.#options;
    for (const uid of this.#untold) {
      if (isOurs(uid) && !push({uid, type: 'PodSync'})) return;
      this.#untold.delete(uid);
    }
  }

  #differs(uid: PodUid, listed: PodStates = NOTHING): boolean {
    return this.#lookAgain.has(uid) || !sameStates(this.#records.get(uid) ?? NOTHING, listed);
  }

  async #look(uid: PodUid): Promise<boolean> {
    const {clock, runtime, signal, notice} = this.#options;
    const readAt = clock.now();
    const {name = '', namespace = ''} = this.#listed.get(uid) ?? {};
    let status: RuntimePodStatus;
    try {
      status = await readPodStatus(runtime, {uid, name, namespace}, signal);
    } catch (error) {
      signal.throwIfAborted();
      this.#lookAgain.add(uid);
      this.cache.fail(uid, error, readAt);
      notice({kind: 'look-failed', uid, error});
      return false;
    }
    return this.#found(named(status), readAt);
  }

  #found(status: RuntimePodStatus, readAt: number): boolean {
    const {uid} = status;
    const before = this.#records.get(uid) ?? NOTHING;
    const after = statesOf(status);
    this.cache.set(uid, status, readAt);
    this.#record(status, before, after);
    const events = lifecycleEvents(uid, before, after);
    const wasAsked = this.#lookAgain.delete(uid);
    this.#tell(uid, wasAsked && events.length === 0 ? [{uid, type: 'PodSync'}] : events);
    return events.length > 0;
  }

  #record({uid, name, namespace}: RuntimePodStatus, before: PodStates, after: PodStates): void {
    for (const id of before.keys()) if (!after.has(id)) this.#owners.delete(id);
    for (const id of after.keys()) this.#owners.set(id, uid);
    if (after.size === 0) {
      this.#records.delete(uid);
      this.#listed.delete(uid);
      return;
    }
    this.#records.set(uid, after);
    const isRunning = [...after.values()].includes('running');
    this.#listed.set(uid, {uid, name, namespace, isRunning, states: after});
  }

  #tell(uid: PodUid, events: readonly PodLifecycleEvent[]): void {
    const {push, isOurs, notice} = this.#options;
    if (!isOurs(uid)) return;
    for (const event of events) {
      if (push(event)) continue;
      this.#untold.add(uid);
      notice({kind: 'event-discarded', event});
    }
  }

  /** Somebody else's pod, or one that is no longer kcri's. */
  #forget(uid: PodUid): void {
    for (const id of this.#records.get(uid)?.keys() ?? []) this.#owners.delete(id);
    this.#records.delete(uid);
    this.#lookAgain.delete(uid);
    this.#untold.delete(uid);
    this.cache.delete(uid);
  }
}
