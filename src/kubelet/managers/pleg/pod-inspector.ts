import {setMaxListeners} from 'node:events';
import type {Clock} from '../../../base/clock.js';
import type {PodUid, RuntimeService} from '../../../cri/index.js';
import type {CacheMark, PodLifecycleEvent, RunningPod} from '../../contract/pleg.js';
import type {RuntimePodStatus} from '../../contract/runtime-pod-status.js';
import type {KubeRuntimeService} from '../../contract/kube-services.js';
import {readRuntimePodStatus} from '../kuberuntime/read-runtime-pod-status.js';
import {InspectionQueue} from './inspection-queue.js';
import type {PlegNotice} from './pleg-notice.js';
import {RuntimePodCache} from './pod-cache.js';
import {
  computeLifecycleEvents,
  withPodName,
  hasSameStates,
  statesOf,
  type ListedPod,
  type PlegState,
  type PodStates,
} from './relist-diff.js';

/** Options of a PLEG. */
export interface PlegOptions {
  readonly runtime: KubeRuntimeService & Pick<RuntimeService, 'streamContainers' | 'streamPodSandboxes'>;
  readonly clock: Clock;
  /** Reports whether kcri manages the pod; others are not inspected and cause no events. */
  readonly isManaged: (uid: PodUid) => boolean;
  /** Adds an event to the queue. Returns false if the queue is full, like AsyncQueue.push. */
  readonly push: (event: PodLifecycleEvent) => boolean;
  readonly onNotice: (notice: PlegNotice) => void;
  /** Signal that stops the PLEG; inspections in progress reject with its reason. */
  readonly signal: AbortSignal;
}

/**
 * Maximum number of concurrent inspections, so that a blocked pod does not delay others and the runtime is not
 * overloaded.
 */
const MAX_CONCURRENT_INSPECTIONS = 16;

/** Time for which the worker of a pod may notice that a container has started, in ms: the period of a relist. */
const START_MS = 1000;

const NO_STATES: PodStates = new Map();

/**
 * Inspects pods: reads the status of a pod, stores it in the cache and emits events for the changes since the last
 * inspection. Relists, runtime events and requests only trigger inspections, so they may be duplicate, late or
 * reordered.
 */
export class PodInspector {
  readonly cache: RuntimePodCache;
  readonly #options: PlegOptions;
  readonly #queue: InspectionQueue;
  /** States as of the last successful inspection. */
  readonly #records = new Map<PodUid, PodStates>();
  /** Pods by the IDs of their containers and sandboxes. */
  readonly #owners = new Map<string, PodUid>();
  /** All pods in the runtime as of the last relist or inspection. */
  #listed = new Map<PodUid, ListedPod>();
  readonly #toReinspect = new Set<PodUid>();
  /** Containers and sandboxes of which the runtime has reported the start, and no inspection yet. */
  readonly #awaited = new Map<PodUid, Set<string>>();
  /** Pods of which events were discarded. */
  readonly #toRedeliver = new Set<PodUid>();

  constructor(options: PlegOptions) {
    this.#options = options;
    // Each concurrent call adds a listener.
    setMaxListeners(0, options.signal);
    this.#queue = new InspectionQueue({
      limit: MAX_CONCURRENT_INSPECTIONS,
      mark: () => this.cache.mark(),
      inspectPod: (uid, start) => this.#inspect(uid, start),
    });
    this.cache = new RuntimePodCache((uid, after) => this.#queue.inspect(uid, after));
  }

  /** Queues an inspection. Resolves with whether the pod has changed; rejects only with the signal's reason. */
  inspect(uid: PodUid): Promise<boolean> {
    return this.#queue.inspect(uid);
  }

  /**
   * Resolves with true if an inspection within a second shows that the container or sandbox has started. Rejects with the
   * signal's reason.
   */
  async noticesStart(uid: PodUid, id: string): Promise<boolean> {
    const {clock, signal} = this.#options;
    this.cache.markStale(uid);
    if (hasStarted(this.stateOf(uid, id))) return true;
    const awaited = this.#awaited.get(uid) ?? new Set();
    this.#awaited.set(uid, awaited.add(id));
    await clock.sleep(START_MS, signal);
    return !this.#stopAwaiting(uid, id);
  }

  /** Reports whether an inspection of the pod is due, queued or running. */
  isPending(uid: PodUid): boolean {
    return this.#awaited.has(uid) || this.#queue.has(uid);
  }

  /** Inspects the pod again with the next relist, and emits an event even without a change. */
  reinspect(uid: PodUid): void {
    this.#toReinspect.add(uid);
  }

  /** True if an inspection or a discarded event must be retried. */
  get hasPendingRetries(): boolean {
    return this.#toReinspect.size + this.#toRedeliver.size > 0;
  }

  /** Returns all pods in the runtime as of the last relist or inspection. */
  runningPods(): readonly RunningPod[] {
    return [...this.#listed.values()];
  }

  /** Returns the pod of a container or sandbox, if known. */
  ownerOf(id: string): PodUid | undefined {
    return this.#owners.get(id);
  }

  /** Returns the last state of a container or sandbox; undefined if it does not exist. */
  stateOf(uid: PodUid, id: string): PlegState | undefined {
    return this.#records.get(uid)?.get(id);
  }

  /** Applies the result of a relist and returns the managed pods that must be inspected. */
  applyRelist(pods: Map<PodUid, ListedPod>): readonly PodUid[] {
    this.#listed = pods;
    const uids = new Set([...pods.keys(), ...this.#records.keys(), ...this.#toReinspect]);
    const due: PodUid[] = [];
    for (const uid of uids) {
      if (!this.#options.isManaged(uid)) this.#forget(uid);
      else if (this.#mustInspect(uid, pods.get(uid)?.states)) due.push(uid);
    }
    for (const uid of due) this.cache.markStale(uid);
    return due;
  }

  /** Emits PodSync for the pods of which events were discarded. */
  redeliver(): void {
    const {isManaged, push} = this.#options;
    for (const uid of this.#toRedeliver) {
      if (isManaged(uid) && !push({uid, type: 'PodSync'})) return;
      this.#toRedeliver.delete(uid);
    }
  }

  #mustInspect(uid: PodUid, listed: PodStates = NO_STATES): boolean {
    return this.#toReinspect.has(uid) || !hasSameStates(this.#records.get(uid) ?? NO_STATES, listed);
  }

  async #inspect(uid: PodUid, start: CacheMark): Promise<boolean> {
    const {runtime, signal, onNotice} = this.#options;
    const {name = '', namespace = ''} = this.#listed.get(uid) ?? {};
    let status: RuntimePodStatus;
    try {
      status = await readRuntimePodStatus(runtime, {uid, name, namespace}, signal);
    } catch (error) {
      signal.throwIfAborted();
      this.#toReinspect.add(uid);
      this.cache.setError(uid, error, start);
      onNotice({kind: 'inspection-failed', uid, error});
      return false;
    }
    return this.#apply(withPodName(status), start);
  }

  #apply(status: RuntimePodStatus, start: CacheMark): boolean {
    const {uid} = status;
    const before = this.#records.get(uid) ?? NO_STATES;
    const after = statesOf(status);
    this.cache.set(uid, status, start);
    this.#record(status, before, after);
    const events = computeLifecycleEvents(uid, before, after);
    const isReinspection = this.#toReinspect.delete(uid);
    this.#emit(uid, isReinspection && events.length === 0 ? [{uid, type: 'PodSync'}] : events);
    return events.length > 0;
  }

  #record({uid, name, namespace}: RuntimePodStatus, before: PodStates, after: PodStates): void {
    for (const id of before.keys()) if (!after.has(id)) this.#owners.delete(id);
    for (const [id, state] of after) {
      this.#owners.set(id, uid);
      if (hasStarted(state)) this.#stopAwaiting(uid, id);
    }
    if (after.size === 0) {
      this.#records.delete(uid);
      this.#listed.delete(uid);
      return;
    }
    this.#records.set(uid, after);
    const isRunning = [...after.values()].includes('running');
    this.#listed.set(uid, {uid, name, namespace, isRunning, states: after});
  }

  #stopAwaiting(uid: PodUid, id: string): boolean {
    const awaited = this.#awaited.get(uid);
    const wasAwaited = awaited?.delete(id) === true;
    if (awaited?.size === 0) this.#awaited.delete(uid);
    return wasAwaited;
  }

  #emit(uid: PodUid, events: readonly PodLifecycleEvent[]): void {
    const {push, isManaged, onNotice} = this.#options;
    if (!isManaged(uid)) return;
    for (const event of events) {
      if (push(event)) continue;
      this.#toRedeliver.add(uid);
      onNotice({kind: 'event-discarded', event});
    }
  }

  /** Removes the state of a pod that kcri does not manage. */
  #forget(uid: PodUid): void {
    for (const id of this.#records.get(uid)?.keys() ?? []) this.#owners.delete(id);
    this.#records.delete(uid);
    this.#toReinspect.delete(uid);
    this.#toRedeliver.delete(uid);
    this.#awaited.delete(uid);
    this.cache.delete(uid);
  }
}

function hasStarted(state: PlegState | undefined): boolean {
  return state === 'running' || state === 'exited';
}
