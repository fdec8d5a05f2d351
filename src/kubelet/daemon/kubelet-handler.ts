import type {AllocationManager} from '../pods/allocation/allocation-manager.js';
import type {Pod} from '../../api/types/v1-pod.js';
import {hasEnded, type PodStatus} from '../../api/types/v1-status.js';
import type {BackgroundWork} from '../../base/async/background-work.js';
import type {Clock} from '../../base/clock.js';
import type {FileLogger, Logger} from '../../base/logger.js';
import {podUid, type PodUid} from '../../cri/index.js';
import type {PodAdmission} from '../pods/admission/pod-admission.js';
import type {PodLifecycleEvent} from '../contract/pleg.js';
import type {ProbeUpdate} from '../contract/probe-results.js';
import {namespacedName, podRef} from '../contract/pod-ref.js';
import type {DesiredPod, PodOperation, PodSourceName, PodUpdate} from '../contract/pod-update.js';
import type {EvictionManager} from '../pods/eviction/eviction-manager.js';
import type {PeriodicContainerGc} from '../pods/gc/periodic-container-gc.js';
import {computePodQosClass} from '../resources/qos-class.js';
import {isMirrorPod, isStaticPod} from '../sources/static-pod.js';
import type {PodManager} from '../pods/registry/pod-manager.js';
import {isDeadlineExceeded} from '../pods/status/compute/active-deadline.js';
import type {ManagedPodSyncHandler} from '../pods/workers/managed-pod-sync-handler.js';
import type {PodWorkers} from '../pods/workers/pod-workers.js';
import type {PodCleanups} from './handle-pod-cleanups.js';
import type {PodErrorBoundary} from './pod-error-boundary.js';
import type {SyncLoopHandler} from './sync-loop.js';

/** Dependencies of KubeletHandler. */
export interface KubeletHandlerOptions {
  readonly manager: PodManager;
  readonly workers: Pick<
    PodWorkers,
    'update' | 'syncKnownPods' | 'takeDue' | 'isTerminationRequested' | 'isTerminated'
  >;
  readonly pods: Pick<
    ManagedPodSyncHandler,
    'getStatus' | 'objectsChanged' | 'applyProbeUpdate' | 'restoreMirror'
  >;
  readonly admission: PodAdmission;
  readonly allocations: Pick<
    AllocationManager,
    'forget' | 'removeOrphans' | 'hasUnreviewedResizes' | 'pushPendingResize' | 'getAllocatedPod'
  >;
  readonly cleanups: PodCleanups;
  readonly boundary: PodErrorBoundary;
  /** Queues a change of a pod again. */
  readonly requeue: (op: PodOperation, pod: DesiredPod) => void;
  /** Owner of what the sync loop starts and does not wait for. */
  readonly background: BackgroundWork;
  readonly containerGc: PeriodicContainerGc;
  readonly evictions: Pick<EvictionManager, 'synchronize'>;
  /** Returns the reasons why pods cannot be synced now; empty when they can. */
  readonly errors: () => readonly string[];
  /** Reports whether every source has delivered its pods and they were handled. No pod is terminated before that. */
  readonly seenAllSources: (handled: ReadonlySet<PodSourceName>) => boolean;
  /** Called when the node has rejected a pod, or when a rejected pod or a mirror pod has changed. */
  readonly onPodChanged: (uid: PodUid) => void;
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Logger;
}

/** Handles the events of the sync loop (kubelet.go HandlePodAdditions and the other methods of SyncHandler). */
export class KubeletHandler implements SyncLoopHandler {
  readonly #options: KubeletHandlerOptions;
  readonly #logger: FileLogger;
  readonly #readySources = new Set<PodSourceName>();

  constructor(options: KubeletHandlerOptions) {
    this.#options = options;
    this.#logger = options.logger.forFile('kubelet-handler.ts');
  }

  get allSourcesReady(): boolean {
    return this.#options.seenAllSources(this.#readySources);
  }

  /** Returns the last computed status; before the first one, that of the API server or Pending. */
  getStatus({uid, pod}: DesiredPod): PodStatus {
    return this.knownStatus(uid) ?? pod.status ?? {phase: 'Pending', qosClass: computePodQosClass(pod)};
  }

  /** Reports whether the node rejected the pod. */
  isRejected(uid: PodUid): boolean {
    return this.#options.admission.isRejected(uid);
  }

  /** Returns the last computed status; undefined before the pod's first sync. */
  knownStatus(uid: PodUid): PodStatus | undefined {
    const {admission, pods} = this.#options;
    return admission.rejectedStatus(uid) ?? pods.getStatus(uid);
  }

  async handleConfig({op, source, pods}: PodUpdate, signal: AbortSignal): Promise<void> {
    const names = pods.map(({pod}) => namespacedName(podRef(pod)));
    this.#logger.info(`SyncLoop ${op}`, {source, pods: names}, op === 'RECONCILE' ? 4 : 2);
    for (const mirror of pods.filter(({pod}) => isMirrorPod(pod))) this.#setMirror(op, mirror);
    const others = pods.filter(({pod}) => !isMirrorPod(pod));
    const ordered = op === 'ADD' ? others.toSorted(byCreation) : others;
    for (const pod of ordered) await this.#handle(op, pod, signal);
    this.#readySources.add(source);
    this.#retryPendingResizes();
  }

  /** Handles a change of one pod. An error concerns only this pod. */
  async #handle(op: PodOperation, desired: DesiredPod, signal: AbortSignal): Promise<void> {
    const {boundary} = this.#options;
    const handling = boundary.pending(op, desired.uid);
    await boundary.runAsync(handling, desired, signal, async () => {
      switch (handling) {
        case 'ADD':
          await this.#add(desired, signal);
          return;
        case 'UPDATE':
        case 'DELETE':
          await this.#update(desired, signal);
          return;
        case 'REMOVE':
          boundary.forget(desired.uid);
          this.#remove(desired);
          return;
        case 'RECONCILE':
        case 'SYNC':
          this.#reconcile(desired);
          return;
        default:
          handling satisfies never;
      }
    });
  }

  /** Stores or forgets a mirror pod: nothing runs for it, but the state of its static pod must reach the API server. */
  #setMirror(op: PodOperation, mirror: DesiredPod): void {
    const {manager, pods, onPodChanged} = this.#options;
    const before = manager.translateUid(mirror.uid);
    if (op === 'REMOVE') manager.delete(mirror);
    else manager.set(mirror);
    const uid = op === 'REMOVE' ? before : manager.translateUid(mirror.uid);
    const stored = manager.mirrorStatus(uid);
    if (stored !== undefined) pods.restoreMirror(uid, stored);
    onPodChanged(uid);
  }

  /** Syncs the pods whose pending resize now fits or is rejected for another reason. */
  #retryPendingResizes(): void {
    const {admission, allocations, manager} = this.#options;
    if (!this.allSourcesReady || !allocations.hasUnreviewedResizes) return;
    const active = this.#listActive().map(({pod}) => pod);
    for (const pod of admission.retryPendingResizes(active)) {
      const desired = manager.get(podRef(pod).uid);
      if (desired !== undefined) this.#sync(desired);
    }
  }

  async #add(desired: DesiredPod, signal: AbortSignal): Promise<void> {
    const {manager, workers, admission} = this.#options;
    const {pod, uid} = desired;
    manager.set(desired);
    // A pod that has ended, before this kubelet started, uses nothing of the node and is only released.
    const hasEndedBefore = hasEnded(pod.status?.phase);
    if (!workers.isTerminationRequested(uid) && !hasEndedBefore) {
      const active = this.#listActive().filter((other) => other.uid !== uid);
      const others = active.map((other) => other.pod);
      if (!(await admission.admit(pod, others, signal))) {
        this.#options.onPodChanged(uid);
        return;
      }
    }
    if (!hasEndedBefore) admission.allocate(pod);
    workers.update({type: 'create', pod});
  }

  /** Returns the pods of the sources, also ended and rejected ones (podManager GetPods). */
  knownPods(): readonly Pod[] {
    return this.#options.manager.list().map(({pod}) => pod);
  }

  /** Returns the pods that use resources of the node, with their allocated resources (GetActivePods). */
  activePods(): readonly Pod[] {
    return this.#listActive().map(({pod}) => this.#options.allocations.getAllocatedPod(pod));
  }

  #listActive(): readonly DesiredPod[] {
    return this.#options.manager.list().filter((desired) => this.#isActive(desired));
  }

  /** Reports whether the pod uses resources of the node (filterOutInactivePods). */
  #isActive({uid}: DesiredPod): boolean {
    if (this.#options.workers.isTerminated(uid)) return false;
    return !hasEnded(this.knownStatus(uid)?.phase);
  }

  async #update(desired: DesiredPod, signal: AbortSignal): Promise<void> {
    const {manager, workers, allocations} = this.#options;
    manager.set(desired);
    // A phase Failed in the API server is final; a manifest can be mended.
    if (this.isRejected(desired.uid)) {
      if (isStaticPod(desired.pod)) await this.#add(desired, signal);
      else this.#updateRejected(desired);
      return;
    }
    allocations.pushPendingResize(desired.uid);
    workers.update({type: 'update', pod: desired.pod});
  }

  /** Ends a rejected pod that is being deleted: its worker has nothing to stop. */
  #updateRejected({uid, pod}: DesiredPod): void {
    const {admission, workers, onPodChanged} = this.#options;
    if (pod.metadata.deletionTimestamp !== undefined) {
      admission.completeStatus(pod);
      workers.update({type: 'update', pod});
    }
    onPodChanged(uid);
  }

  /** Sets the pod, whose status has changed; readiness gates depend on it (HandlePodReconcile). */
  #reconcile(desired: DesiredPod): void {
    this.#options.manager.set(desired);
    if ((desired.pod.spec.readinessGates ?? []).length > 0) this.#updateWorker(desired);
  }

  /** Terminates the pod. Housekeeping does it later if a source has not delivered its pods yet. */
  #remove(desired: DesiredPod): void {
    const {uid, pod} = desired;
    const {manager, workers, admission, allocations} = this.#options;
    manager.delete(desired);
    allocations.forget(uid);
    if (admission.clearRejection(uid)) return;
    if (this.allSourcesReady) workers.update({type: 'kill', pod});
  }

  handlePleg(event: PodLifecycleEvent): void {
    const {manager, containerGc} = this.#options;
    const {uid, type, id = ''} = event;
    const desired = manager.get(uid);
    if (type !== 'ContainerRemoved') {
      if (desired === undefined)
        this.#logger.info(
          'SyncLoop (PLEG): pod does not exist, ignore irrelevant event',
          {event: {ID: uid, Type: type, Data: id}},
          4,
        );
      else {
        this.#logger.info(
          'SyncLoop (PLEG): event for pod',
          {pod: namespacedName(podRef(desired.pod)), event: {ID: uid, Type: type, Data: id}},
          2,
        );
        this.#sync(desired);
      }
    }
    if (type === 'ContainerDied')
      this.#options.background.start('container GC', containerGc.removeDeadContainers(uid));
  }

  /** Syncs a pod. An error concerns only this pod. */
  #sync(desired: DesiredPod): void {
    this.#options.boundary.run('SYNC', desired, () => {
      this.#updateWorker(desired);
    });
  }

  #updateWorker({uid, pod}: DesiredPod): void {
    const {workers, boundary} = this.#options;
    // A pod that could not be added yet has not been admitted.
    if (!this.isRejected(uid) && !boundary.isAddPending(uid)) workers.update({type: 'sync', pod});
  }

  /** Syncs pods of whose resources something new is known; unknown UIDs are ignored. */
  syncPods(uids: readonly string[]): void {
    for (const uid of uids) {
      const desired = this.#options.manager.get(podUid(uid));
      if (desired !== undefined) this.#sync(desired);
    }
  }

  handleObjectsChanged(): void {
    const {manager, pods} = this.#options;
    pods.objectsChanged();
    for (const desired of manager.list()) this.#sync(desired);
  }

  handleProbe(update: ProbeUpdate): void {
    const {uid, probe, status} = update;
    const {manager, pods} = this.#options;
    const desired = manager.get(uid);
    if (desired === undefined || this.isRejected(uid)) return;
    this.#options.boundary.run('SYNC', desired, () => {
      pods.applyProbeUpdate(update);
    });
    this.#logger.info('SyncLoop (probe)', {probe, status, pod: namespacedName(podRef(desired.pod))}, 1);
    this.#sync(desired);
  }

  handleSync(): void {
    const {manager, workers, clock} = this.#options;
    const uids = new Set(workers.takeDue());
    const now = clock.now();
    const due = manager
      .list()
      .filter((desired) => uids.has(desired.uid) || this.#isPastDeadline(desired, now));
    if (due.length === 0) return;
    this.#logger.info(
      'SyncLoop (SYNC) pods',
      {total: due.length, pods: due.map(({pod}) => namespacedName(podRef(pod)))},
      4,
    );
    for (const desired of due) this.#sync(desired);
  }

  /** Reports whether a pod that is not terminating is past its deadline (active_deadline.go ShouldSync). */
  #isPastDeadline(desired: DesiredPod, now: number): boolean {
    const {workers} = this.#options;
    if (desired.pod.spec.activeDeadlineSeconds === undefined) return false;
    return (
      !workers.isTerminationRequested(desired.uid) &&
      isDeadlineExceeded(desired.pod, this.getStatus(desired), now)
    );
  }

  errors(): readonly string[] {
    return this.#options.errors();
  }

  /** Decides what there is to clean up. The removals themselves run in the background: no event waits for them. */
  handleHousekeeping(): void {
    const {manager, workers, cleanups, containerGc, evictions, background} = this.#options;
    this.#repeatFailed();
    if (!this.allSourcesReady) {
      this.#logger.info("SyncLoop (housekeeping, skipped): sources aren't ready yet", {}, 4);
      return;
    }
    this.#logger.info('SyncLoop (housekeeping)', {}, 4);
    workers.syncKnownPods(manager.uids());
    this.#options.allocations.removeOrphans(manager.uids());
    this.#retryPendingResizes();
    cleanups.run();
    background.start('container GC', containerGc.collectIfDue());
    background.start('eviction', evictions.synchronize(this.activePods()));
  }

  /** Queues again what could not be handled, with the pods as their sources have them now. */
  #repeatFailed(): void {
    const {boundary, manager, requeue} = this.#options;
    for (const [uid, op] of boundary.failed()) {
      const desired = manager.get(uid);
      if (desired === undefined) boundary.forget(uid);
      else if (op === 'SYNC') this.#sync(desired);
      else requeue(op, desired);
    }
  }
}

/** Compares pods by their age, the order in which they are added. */
export function byCreation(a: DesiredPod, b: DesiredPod): number {
  const [first = '', second = ''] = [a.pod.metadata.creationTimestamp, b.pod.metadata.creationTimestamp];
  return first < second ? -1 : first > second ? 1 : 0;
}
