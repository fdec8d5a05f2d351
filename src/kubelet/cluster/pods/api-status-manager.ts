import {encodePodStatus} from '../../../api/json/encode-pod.js';
import {hasEnded, type PodStatus} from '../../../api/types/v1-status.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import {decodeApiObject} from '../../../api/json/decode-api-object.js';
import {WakeableSleep} from '../../../base/async/wakeable-sleep.js';
import type {Clock} from '../../../base/clock.js';
import type {FileLogger, Logger} from '../../../base/logger.js';
import type {PodUid} from '../../../cri/index.js';
import {createMergePatch, isNotFound, type ApiClient} from '../../../kube-api/index.js';
import type {ClusterHost, ClusterPodState} from '../../contract/cluster/cluster-link.js';
import {namespacedName, podRef, type PodRef} from '../../contract/pod-ref.js';
import {isMirrorPod} from '../../sources/static-pod.js';
import {terminatedPodStatus} from '../../pods/status/compute/terminated-pod-status.js';
import type {StartGate} from '../start-gate.js';
import {mergePodStatus} from './merge-pod-status.js';
import {deleteAtOnce, podPath} from './pod-requests.js';

/** Options of {@link ApiStatusManager}. */
export interface ApiStatusManagerOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Period after which failed and differing statuses are sent again, in ms (syncPeriod). */
const RECONCILE_MS = 10_000;

/** State of a pod when its status was last sent. */
interface SentState {
  /** State of the pod on the node, as JSON. */
  readonly state: string;
  /** Version of the Pod that the watch had delivered then. */
  readonly version: string | undefined;
}

/**
 * Sends the statuses of the pods to the API server, one after the other, and deletes Pods that have ended for good
 * (status_manager.go manager). Statuses that change while others are sent coalesce.
 */
export class ApiStatusManager {
  readonly #options: ApiStatusManagerOptions;
  readonly #logger: FileLogger;
  readonly #changed = new Set<PodUid>();
  /** Changed pods whose status is sent when the gate opens. */
  readonly #heldBack = new Set<PodUid>();
  /** Pods whose status in the API server is compared with that on the node. */
  readonly #unreconciled = new Set<PodUid>();
  /** Pods for which the final DELETE has succeeded. */
  readonly #deleted = new Set<PodUid>();
  readonly #sent = new Map<PodUid, SentState>();
  readonly #sleep: WakeableSleep;
  /** Calls that wait until the queue is empty. */
  readonly #waiting: (() => void)[] = [];

  constructor(options: ApiStatusManagerOptions) {
    this.#options = options;
    this.#logger = options.logger.forFile('api-status-manager.ts');
    this.#sleep = new WakeableSleep(options.clock);
  }

  /** Queues the pod, whose status may have changed. */
  podChanged(uid: PodUid): void {
    this.#heldBack.delete(uid);
    this.#changed.add(uid);
    this.#sleep.wake();
  }

  /** Resolves when no changed pod is queued: each was tried at least once. */
  async waitUntilTried(): Promise<void> {
    this.#release();
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /**
   * Sends statuses until the signal aborts. While the gate is closed, those of pods that are still to start are held back
   * and coalesce.
   */
  async run(host: ClusterHost, gate: StartGate, signal: AbortSignal): Promise<void> {
    const {clock} = this.#options;
    let reconcileAt = clock.monotonic() + RECONCILE_MS;
    while (!signal.aborted) {
      const [uid = this.#unreconciled.values().next().value] = this.#changed;
      if (uid !== undefined) {
        this.#changed.delete(uid);
        const isReconciled = this.#unreconciled.delete(uid);
        if (this.#canWait(host, uid, gate)) this.#holdBack(uid, gate, signal);
        else await this.#sync(host, uid, {isReconciled, signal});
        continue;
      }
      for (const resolve of this.#waiting.splice(0)) resolve();
      await this.#sleep.sleep(reconcileAt - clock.monotonic(), signal);
      if (clock.monotonic() < reconcileAt) continue;
      reconcileAt = clock.monotonic() + RECONCILE_MS;
      this.#reconcile(host);
    }
  }

  #canWait(host: ClusterHost, uid: PodUid, gate: StartGate): boolean {
    if (this.#waiting.length > 0 || !gate.isClosed) return false;
    const {pod, status} = host.podState(uid) ?? {};
    return status?.phase === 'Pending' && pod?.metadata.deletionTimestamp === undefined;
  }

  #holdBack(uid: PodUid, gate: StartGate, signal: AbortSignal): void {
    const isFirst = this.#heldBack.size === 0;
    this.#heldBack.add(uid);
    if (!isFirst) return;
    const release = (): void => {
      this.#release();
    };
    gate.whenOpen(signal).then(release, release);
  }

  #release(): void {
    for (const uid of this.#heldBack) this.#changed.add(uid);
    this.#heldBack.clear();
    this.#sleep.wake();
  }

  /**
   * Queues the pods whose status has not been sent or was changed by others, and forgets those that are in no source. What
   * others write is put back with this period only: they may put it back as well.
   */
  #reconcile(host: ClusterHost): void {
    const uids = new Set(host.podUids());
    for (const uid of this.#sent.keys()) if (!uids.has(uid)) this.#sent.delete(uid);
    for (const uid of this.#deleted) if (!uids.has(uid)) this.#deleted.delete(uid);
    for (const uid of uids) this.#unreconciled.add(uid);
  }

  async #sync(
    host: ClusterHost,
    uid: PodUid,
    {isReconciled, signal}: {readonly isReconciled: boolean; readonly signal: AbortSignal},
  ): Promise<void> {
    const state = host.podState(uid);
    if (state === undefined) return;
    const ref = podRef(state.pod);
    try {
      if (this.#mustSend(uid, state, isReconciled)) await this.#send(uid, state, signal);
    } catch (error) {
      if (signal.aborted || isNotFound(error)) return;
      const fields = {pod: namespacedName(ref), podUID: ref.uid};
      this.#logger.error(error, 'Failed to update status for pod', fields);
    }
  }

  async #send(uid: PodUid, state: ClusterPodState, signal: AbortSignal): Promise<void> {
    const ref = podRef(state.pod);
    const next = describeState(state);
    const stored = await this.#get(ref, signal);
    // Another pod of the same name: this one is gone.
    if (stored?.metadata.uid !== ref.uid) return;
    const merged = mergePodStatus(
      stored.status ?? {},
      statusToStore(state),
      state.couldHaveRunningContainers,
    );
    await this.#patch(ref, stored, merged, signal);
    // A Pod with finalizers remains until the last one is removed.
    if (isToBeDeleted(state) && hasEnded(merged.phase) && !this.#deleted.has(uid)) {
      await this.#delete(ref, signal);
      this.#deleted.add(uid);
    }
    this.#sent.set(uid, next);
  }

  /** Reports whether the state has changed since it was sent, or others have changed the status (needsReconcile). */
  #mustSend(uid: PodUid, state: ClusterPodState, isReconciled: boolean): boolean {
    if (state.status === undefined && !isToBeDeleted(state)) return false;
    const sent = this.#sent.get(uid);
    const next = describeState(state);
    if (sent?.state !== next.state) return true;
    if (!isReconciled || sent.version === next.version) return false;
    if (!isStored(state)) return true;
    this.#sent.set(uid, next);
    return false;
  }

  async #get({namespace, name}: PodRef, signal: AbortSignal): Promise<Pod | undefined> {
    const {client} = this.#options;
    const path = podPath(namespace, name);
    return decodeApiObject(await client.request({method: 'GET', path}, signal), 'Pod');
  }

  async #patch(ref: PodRef, stored: Pod, status: PodStatus, signal: AbortSignal): Promise<void> {
    // Fields that the decoder drops remain, since the patch is relative to what was decoded.
    const patch = createPatch(stored.status ?? {}, status);
    if (Object.keys(patch).length === 0) return;
    await this.#options.client.request(
      {
        method: 'PATCH',
        path: `${podPath(ref.namespace, ref.name)}/status`,
        body: {metadata: {uid: ref.uid}, status: patch},
      },
      signal,
    );
  }

  /** Deletes the Pod for good; another Pod of its name is left alone. */
  async #delete(ref: PodRef, signal: AbortSignal): Promise<void> {
    // After a failure, also a conflict or 404, the status remains unsent, and the next round tries again if the Pod is there.
    await deleteAtOnce(this.#options.client, podPath(ref.namespace, ref.name), ref.uid, signal);
    this.#logger.info('Pod fully terminated and removed from etcd', {pod: namespacedName(ref)}, 3);
  }
}

/** Reports whether the Pod is being deleted and nothing of it is left on the node (canBeDeleted). */
function isToBeDeleted({pod, isFinished, couldHaveRunningContainers}: ClusterPodState): boolean {
  const isDeleted = pod.metadata.deletionTimestamp !== undefined && !isMirrorPod(pod);
  return isDeleted && isFinished && !couldHaveRunningContainers;
}

function describeState(state: ClusterPodState): SentState {
  const {pod, status, couldHaveRunningContainers, isFinished} = state;
  const {uid, deletionTimestamp, resourceVersion} = pod.metadata;
  return {
    state: JSON.stringify([uid, status, couldHaveRunningContainers, isFinished, deletionTimestamp]),
    version: resourceVersion,
  };
}

/** Reports whether the watched status is the one that would be stored. */
function isStored(state: ClusterPodState): boolean {
  if (state.status === undefined) return true;
  const stored = state.pod.status ?? {};
  const merged = mergePodStatus(stored, statusToStore(state), state.couldHaveRunningContainers);
  return Object.keys(createPatch(stored, merged)).length === 0;
}

function createPatch(before: PodStatus, after: PodStatus): object {
  return createMergePatch({...encodePodStatus(before)}, {...encodePodStatus(after)});
}

/** Returns the status of the pod; that of the API server for a pod that was deleted before its first sync. */
function statusToStore({
  pod,
  status = pod.status ?? {},
  isFinished,
  terminatingAt,
}: ClusterPodState): PodStatus {
  return isFinished && !isMirrorPod(pod) ? terminatedPodStatus(pod, status, terminatingAt) : status;
}
