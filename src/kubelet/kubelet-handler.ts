import {hasEnded, type PodStatus} from '../api/v1-status.js';
import type {Clock} from '../base/clock.js';
import {concurrently} from '../base/concurrently.js';
import type {Logger} from '../base/logger.js';
import type {PodUid} from '../cri/index.js';
import {neededRoom, rejectionOf} from './admission/admit-pod.js';
import type {Allocations} from './allocation/allocations.js';
import {tellUnknownResources} from './admission/unknown-resources.js';
import {isStaticPod} from './config/static-pod.js';
import type {EventSink} from './container/events.js';
import type {KubeletMetrics} from './container/kubelet-metrics.js';
import type {NodeFacts} from './container/node.js';
import type {Pleg, PodLifecycleEvent} from './container/pleg.js';
import type {ProbeOutcome} from './container/probe-results.js';
import {namespacedName, podRef} from './container/pod-ref.js';
import type {DesiredPod, PodSourceName, PodUpdate} from './container/pod-update.js';
import type {KubeletPods} from './kubelet-pods.js';
import {DEFAULT_CONTAINER_GC, type ContainerGcPolicy} from './kuberuntime/garbage.js';
import {podQosClass} from './kuberuntime/qos.js';
import type {RuntimeState} from './node-status/runtime-state.js';
import type {GarbageRules} from './pod-garbage.js';
import type {PodManager} from './pod/pod-manager.js';
import {preemptPods} from './preempt-pods.js';
import type {PodWorkers} from './pod-workers/pod-workers.js';
import {deadlineExceeded} from './status/deadline.js';
import type {SyncLoopHandler} from './sync-loop.js';

/** What the handler works with. */
export interface KubeletHandlerOptions {
  readonly manager: PodManager;
  readonly workers: PodWorkers;
  readonly pods: KubeletPods;
  readonly pleg: Pleg;
  readonly allocations: Allocations;
  readonly runtimeState: RuntimeState;
  readonly node: NodeFacts;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: EventSink;
  /** Whether each source has told what it has and that was handled: before, nothing is ended. */
  readonly seenAllSources: (handled: ReadonlySet<PodSourceName>) => boolean;
  /** Whether pods that the node has no room for are refused. */
  readonly admission: boolean;
  /** Which dead containers stay; as a kubelet has it by default. */
  readonly containerGc?: ContainerGcPolicy | undefined;
  /** Called with each round of housekeeping: whose probes may go on. */
  readonly keepProbes?: (keep: (uid: PodUid) => boolean) => void;
  readonly metrics?: Pick<
    KubeletMetrics,
    'restarted' | 'orphanFound' | 'orphansRemoved' | 'preempted' | 'podAdded'
  >;
}

/** How often dead containers and sandboxes are looked for (ContainerGCPeriod). */
const GARBAGE_MS = 60_000;
const ORPHANS_AT_ONCE = 8;
/** How long a pod that only the runtime knows has to stop, in seconds. */
const ORPHAN_GRACE_SECONDS = 1;

/** What the kubelet does about each event of its sync loop (kubelet.go HandlePodAdditions and its sisters). */
export class KubeletHandler implements SyncLoopHandler {
  readonly #options: KubeletHandlerOptions;
  readonly #readySources = new Set<PodSourceName>();
  /** Pods that the node does not take, as they are shown. */
  readonly #rejected = new Map<PodUid, PodStatus>();
  #collectAt = 0;

  constructor(options: KubeletHandlerOptions) {
    this.#options = options;
  }

  get allSourcesReady(): boolean {
    return this.#options.seenAllSources(this.#readySources);
  }

  /** As it was last made: Pending before the pod's first sync. */
  statusOf({uid, pod}: DesiredPod): PodStatus {
    return this.#knownStatus(uid) ?? {phase: 'Pending', qosClass: podQosClass(pod)};
  }

  /** Whether the node doesn't take the pod. */
  isRejected(uid: PodUid): boolean {
    return this.#rejected.has(uid);
  }

  #knownStatus(uid: PodUid): PodStatus | undefined {
    return this.#rejected.get(uid) ?? this.#options.pods.statusOf(uid);
  }

  async handleConfig({op, source, pods}: PodUpdate, signal: AbortSignal): Promise<void> {
    const names = pods.map(({pod}) => namespacedName(podRef(pod)));
    this.#options.logger.info(`SyncLoop ${op}`, {source, pods: names}, op === 'RECONCILE' ? 4 : 2);
    switch (op) {
      case 'ADD':
        for (const pod of pods.toSorted(byCreation)) await this.#add(pod, signal);
        break;
      case 'UPDATE':
      case 'DELETE':
        for (const pod of pods) await this.#update(pod, signal);
        break;
      case 'REMOVE':
        for (const pod of pods) this.#remove(pod);
        break;
      case 'RECONCILE':
        for (const pod of pods) this.#options.manager.set(pod);
    }
    this.#readySources.add(source);
    this.#reviewResizes();
  }

  /** Has the pods synced that are granted what they ask for by now, and those of which is known why they aren't. */
  #reviewResizes(): void {
    const {allocations, manager, workers, node, admission} = this.#options;
    if (!this.allSourcesReady || !allocations.isUnsettled) return;
    const active = manager.list().filter((desired) => this.#isActive(desired));
    const review = {active: active.map(({pod}) => pod), node, admission};
    for (const pod of allocations.review(review)) workers.update({type: 'sync', pod});
  }

  async #add(desired: DesiredPod, signal: AbortSignal): Promise<void> {
    const {manager, workers, allocations, events} = this.#options;
    const {pod, uid} = desired;
    manager.set(desired);
    if (!workers.isTerminationRequested(uid) && !(await this.#admit(desired, signal))) return;
    tellUnknownResources(pod, events);
    allocations.admit(pod);
    workers.update({type: 'create', pod});
    this.#options.metrics?.podAdded(pod.spec.containers.length);
  }

  /**
   * Whether the node takes the pod; one that it does not is told of and never started (rejectPod). Resolves when the
   * pods have ended that have to go for it.
   */
  async #admit({uid, pod}: DesiredPod, signal: AbortSignal): Promise<boolean> {
    const {admission, events, node, manager, allocations} = this.#options;
    if (!admission) return true;
    const active = manager.list().filter((other) => other.uid !== uid && this.#isActive(other));
    const others = active.map((other) => allocations.of(other.pod));
    const question = {pod: allocations.of(pod), others, endable: others, node};
    const rejection = rejectionOf(question);
    if (rejection === undefined) {
      const room = neededRoom(question);
      if (room !== undefined) await preemptPods(this.#options, {pod, ...room}, signal);
      return true;
    }
    const {reason, message} = rejection;
    events({type: 'Warning', reason, message, pod});
    this.#rejected.set(uid, {
      phase: 'Failed',
      reason,
      message: `Pod was rejected: ${message}`,
      qosClass: podQosClass(pod),
    });
    return false;
  }

  /** Whether it takes room on the node (filterOutInactivePods). */
  #isActive({uid}: DesiredPod): boolean {
    if (this.#options.workers.isTerminated(uid)) return false;
    return !hasEnded(this.#knownStatus(uid)?.phase);
  }

  async #update(desired: DesiredPod, signal: AbortSignal): Promise<void> {
    const {manager, workers, allocations} = this.#options;
    manager.set(desired);
    if (!this.#rejected.has(desired.uid)) {
      allocations.push(desired.uid);
      workers.update({type: 'update', pod: desired.pod});
    } else {
      this.#rejected.delete(desired.uid);
      await this.#add(desired, signal);
    }
  }

  /** While a source has not told yet what it has, nothing is ended: housekeeping does it later. */
  #remove({uid, pod}: DesiredPod): void {
    const {manager, workers, allocations} = this.#options;
    manager.delete(uid);
    allocations.forget(uid);
    if (this.#rejected.delete(uid)) return;
    if (this.allSourcesReady) workers.update({type: 'kill', pod});
  }

  handlePleg(event: PodLifecycleEvent): void {
    const {manager, logger, pods} = this.#options;
    const {uid, type, id = ''} = event;
    const desired = manager.get(uid);
    if (type !== 'ContainerRemoved') {
      if (desired === undefined)
        logger.info(
          'SyncLoop (PLEG): pod does not exist, ignore irrelevant event',
          {event: {ID: uid, Type: type, Data: id}},
          4,
        );
      else {
        logger.info(
          'SyncLoop (PLEG): event for pod',
          {pod: namespacedName(podRef(desired.pod)), event: {ID: uid, Type: type, Data: id}},
          2,
        );
        this.#sync(desired);
      }
    }
    if (type === 'ContainerDied')
      // What fails is logged.
      void pods.removeDead(uid, this.#garbageRules());
  }

  #sync({uid, pod}: DesiredPod): void {
    if (!this.#rejected.has(uid)) this.#options.workers.update({type: 'sync', pod});
  }

  handleObjectsChanged(): void {
    const {manager, pods} = this.#options;
    pods.objectsChanged();
    for (const desired of manager.list()) this.#sync(desired);
  }

  handleProbe(outcome: ProbeOutcome): void {
    const {uid, probe, status} = outcome;
    const desired = this.#options.manager.get(uid);
    if (desired === undefined || this.#rejected.has(uid)) return;
    this.#options.pods.probed(outcome);
    this.#options.logger.info(
      'SyncLoop (probe)',
      {probe, status, pod: namespacedName(podRef(desired.pod))},
      1,
    );
    this.#sync(desired);
  }

  handleSync(): void {
    const {manager, workers, logger, clock} = this.#options;
    const uids = new Set(workers.takeDue());
    const now = clock.now();
    const due = manager
      .list()
      .filter((desired) => uids.has(desired.uid) || this.#isPastDeadline(desired, now));
    if (due.length === 0) return;
    logger.info(
      'SyncLoop (SYNC) pods',
      {total: due.length, pods: due.map(({pod}) => namespacedName(podRef(pod)))},
      4,
    );
    for (const desired of due) this.#sync(desired);
  }

  /** Whether a pod that is still to be ended has been active for as long as it may (active_deadline.go ShouldSync). */
  #isPastDeadline(desired: DesiredPod, now: number): boolean {
    const {workers} = this.#options;
    if (desired.pod.spec.activeDeadlineSeconds === undefined) return false;
    return (
      !workers.isTerminationRequested(desired.uid) &&
      deadlineExceeded(desired.pod, this.statusOf(desired), now)
    );
  }

  errors(): readonly string[] {
    const {runtimeState, pleg} = this.#options;
    const unhealthy = pleg.unhealthy();
    return [
      ...runtimeState.errors(),
      ...(unhealthy === undefined ? [] : [`PLEG is not healthy: ${unhealthy}`]),
    ];
  }

  /** HandlePodCleanups, as far as there is something to clean up here. */
  async handleHousekeeping(): Promise<void> {
    const {manager, workers, keepProbes, logger, clock} = this.#options;
    if (!this.allSourcesReady) {
      logger.info("SyncLoop (housekeeping, skipped): sources aren't ready yet", {}, 4);
      return;
    }
    logger.info('SyncLoop (housekeeping)', {}, 4);
    workers.syncKnown(manager.uids());
    this.#reviewResizes();
    keepProbes?.((uid) => workers.couldHaveRunningContainers(uid));
    await this.#endOrphans();
    for (const {uid, pod} of manager.list()) {
      if (workers.isKnown(uid) || this.#rejected.has(uid)) continue;
      workers.update({type: 'create', pod});
      this.#options.metrics?.restarted(isStaticPod(pod));
    }
    if (clock.now() < this.#collectAt) return;
    this.#collectAt = clock.now() + GARBAGE_MS;
    await this.#options.pods.collectGarbage(this.#garbageRules());
  }

  /** Pods of an earlier daemon or of a source that nobody wants any more: what runs is ended, what is left removed. */
  async #endOrphans(): Promise<void> {
    const {manager, workers, pods, pleg, metrics} = this.#options;
    const orphans = pods.records().filter(({uid}) => manager.get(uid) === undefined && !workers.isKnown(uid));
    const running = new Map(pleg.runningPods().map((pod) => [pod.uid, pod]));
    let [count, failures] = [0, 0];
    await concurrently(orphans, ORPHANS_AT_ONCE, async ({uid}) => {
      const runs = running.get(uid);
      if (runs?.isRunning === true) {
        metrics?.orphanFound();
        workers.update({type: 'kill', running: runs, kill: {gracePeriodSeconds: ORPHAN_GRACE_SECONDS}});
      } else {
        count += 1;
        if (!(await pods.remove(uid))) failures += 1;
      }
    });
    metrics?.orphansRemoved(count, failures);
  }

  #garbageRules(): GarbageRules {
    const {workers, clock, containerGc = DEFAULT_CONTAINER_GC} = this.#options;
    const isUnwanted = (uid: PodUid): boolean => workers.shouldContentBeRemoved(uid);
    return {policy: containerGc, now: clock.now(), isUnwanted};
  }
}

function byCreation(a: DesiredPod, b: DesiredPod): number {
  const [first = '', second = ''] = [a.pod.metadata.creationTimestamp, b.pod.metadata.creationTimestamp];
  return first < second ? -1 : first > second ? 1 : 0;
}
