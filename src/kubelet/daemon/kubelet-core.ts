import {onAbort} from '../../base/async/abort-callbacks.js';
import type {LiveValue} from '../contract/live-value.js';
import {BackgroundWork} from '../../base/async/background-work.js';
import type {Clock, RandomSource} from '../../base/clock.js';
import type {Logger} from '../../base/logger.js';
import {podUid, type PodUid, type RuntimeService} from '../../cri/index.js';
import type {NodeObjectFacts} from '../contract/cluster/cluster-link.js';
import {NO_METRICS, type KubeletMetrics} from '../contract/kubelet-metrics.js';
import type {NodeFacts} from '../contract/node-facts.js';
import type {PodAllocation} from '../contract/resources/actuated-resources.js';
import type {Pleg} from '../contract/pleg.js';
import type {EventSink} from '../contract/pod-event.js';
import type {PodSourceName} from '../contract/pod-update.js';
import {RuntimeState} from '../node/runtime-state.js';
import {configSourceOf} from '../sources/static-pod.js';
import {EventedPleg} from '../managers/pleg/evented-pleg.js';
import {openContainerLogLinks} from '../managers/pod-filesystem/container-log-links.js';
import {GenericPleg} from '../managers/pleg/generic-pleg.js';
import type {PlegNotice} from '../managers/pleg/pleg-notice.js';
import {PodAdmission, type RejectionSink} from '../pods/admission/pod-admission.js';
import {AllocationManager} from '../pods/allocation/allocation-manager.js';
import type {KubeletTracer} from '../contract/observation/kubelet-tracer.js';
import type {EvictPod} from '../pods/eviction/eviction.js';
import {EvictionManager} from '../pods/eviction/eviction-manager.js';
import type {NodePressureManager} from '../pods/eviction/node-pressure-manager.js';
import type {ContainerGcPolicy} from '../pods/gc/container-gc.js';
import {DeadLogLinks} from '../pods/gc/dead-log-links.js';
import {PeriodicContainerGc} from '../pods/gc/periodic-container-gc.js';
import type {OrphanedPods} from '../pods/gc/orphaned-pods.js';
import type {ManagedPodSet} from '../pods/registry/managed-pod-set.js';
import type {PodManager} from '../pods/registry/pod-manager.js';
import type {PodRegistry} from '../pods/registry/pod-registry.js';
import {
  ManagedPodSyncHandler,
  type ManagedPodSyncHandlerOptions,
  type SyncObserver,
} from '../pods/workers/managed-pod-sync-handler.js';
import {killPodNow} from '../pods/workers/kill-pod-now.js';
import {PodWorkers, type PodWorkersOptions} from '../pods/workers/pod-workers.js';
import {createNodePressure, type NodePressureSource} from './create-node-pressure.js';
import {PodCleanups} from './handle-pod-cleanups.js';
import {KubeletHandler} from './kubelet-handler.js';
import {PodErrorBoundary} from './pod-error-boundary.js';
import {SyncLoop} from './sync-loop.js';
import type {SyncLoopQueue} from './sync-loop-queue.js';

/** Removal of orphaned pods, as used by the core. */
export type OrphanedPodRemover = ManagedPodSyncHandlerOptions['orphans'];

/** Shared parts of the core, and the points in which `kcri kubelet` and `kcri sync` differ. */
export interface KubeletCoreOptions {
  readonly queue: SyncLoopQueue;
  readonly manager: PodManager;
  readonly registry: PodRegistry;
  /** Store of the allocated resources; in memory by default. */
  readonly allocated?: Map<PodUid, PodAllocation>;
  /** Ownership policy: the set of pods that this core manages. */
  readonly own: ManagedPodSet;
  readonly createOrphanedPods: (
    parts: Pick<ConstructorParameters<typeof OrphanedPods>[0], 'pleg' | 'isWanted'>,
  ) => OrphanedPodRemover;
  /** Wraps each unit of work of the pod workers; by default they call the handler directly. */
  readonly wrapHandler?: (
    handler: ManagedPodSyncHandler,
    pleg: Pleg,
  ) => Pick<PodWorkersOptions, 'handler' | 'cache'>;
  readonly observer?: SyncObserver;
  readonly runtime: RuntimeService;
  readonly node: NodeFacts;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  /** Sink of the events that are raised outside of a sync. */
  readonly events: EventSink;
  readonly metrics?: KubeletMetrics;
  /** Traces the work on pods; by default it is not traced. */
  readonly tracer?: KubeletTracer | undefined;
  /** Period of the sync of an idle pod, in ms (syncFrequency). */
  readonly syncFrequencyMs: LiveValue<number>;
  /** True to use the runtime's events (GetContainerEvents) if it supports them. */
  readonly eventedPleg: boolean;
  /** Resolves when the runtime's events are needed; immediately by default. */
  readonly needsEvents?: Promise<void>;
  /** Called when a pod was rejected, its worker has finished, or its mirror pod has changed. */
  readonly onPodChanged?: ((uid: PodUid) => void) | undefined;
  /** See PodAdmission. */
  readonly nodeObject?: (() => NodeObjectFacts | undefined) | undefined;
  readonly onPlegNotice: (notice: PlegNotice) => void;
  /** True if the handler checks admission; if not, every pod is admitted. */
  readonly admission: boolean;
  /** See PodAdmission. */
  readonly rejections?: RejectionSink | undefined;
  readonly containerGc?: ContainerGcPolicy | undefined;
  /** Eviction from a node that lacks a resource; none by default. */
  readonly nodePressure?: NodePressureSource | undefined;
  /** True to remove the containers of an evicted pod with their logs, as in a kubelet. Default true. */
  readonly removesEvicted?: boolean;
  /** Reports whether all sources have delivered their pods; see PodSources. */
  readonly seenAllSources: (handled: ReadonlySet<PodSourceName>) => boolean;
  /**
   * Called for an error in the handling of a pod, of an event of the sync loop or in background work, after it was logged.
   */
  readonly onInternalError?: (error: unknown) => void;
  /** Stops the PLEG and the subscription to probe results. */
  readonly signal: AbortSignal;
}

/** Parts that sync pods: events → sync loop → pod workers → PodSyncer (kubelet.go NewMainKubelet). */
export interface KubeletCore {
  readonly allocations: AllocationManager;
  readonly runtimeState: RuntimeState;
  readonly pleg: Pleg;
  readonly pods: ManagedPodSyncHandler;
  readonly workers: PodWorkers;
  readonly evictions: EvictionManager;
  readonly nodePressure: NodePressureManager | undefined;
  readonly handler: KubeletHandler;
  readonly loop: SyncLoop;
  /** Work that the sync loop has started and does not wait for. */
  readonly background: BackgroundWork;
}

/** Creates the parts in the order of their dependencies. Starts nothing. */
export function createKubeletCore(options: KubeletCoreOptions): KubeletCore {
  const {queue, registry, runtime, clock, logger, metrics = NO_METRICS} = options;
  const background = new BackgroundWork((error) => {
    logger.forFile('kubelet-core.ts').error(error, 'Background work failed', {part: error.part});
    options.onInternalError?.(error);
  });
  const allocations = new AllocationManager(options.allocated);
  const runtimeState = new RuntimeState(runtime, clock);
  const pleg = createPleg(options);
  const pods = createSyncHandler(options, {pleg, runtimeState, allocations});
  const boundary = new PodErrorBoundary({
    ...{events: options.events, logger, metrics},
    onError: options.onInternalError,
  });
  const workers = createPodWorkers(options, {pleg, pods, allocations, boundary}, (uid) => {
    background.start('container GC', containerGc.removeDeadContainers(uid));
  });
  registry.setMetrics(metrics);
  const evictPod: EvictPod = (pod, how) => {
    workers.update({type: 'kill', pod, kill: {evict: options.removesEvicted ?? true, ...how}});
  };
  const containerGc = createContainerGc(options, {pods, workers});
  const nodePressure =
    options.nodePressure &&
    createNodePressure(options, options.nodePressure, {workers, containerGc, evictPod});
  const evictions = new EvictionManager({
    findEviction: async (uid) => pods.findEviction(uid),
    ...{evictPod, nodePressure, logger, metrics, signal: options.signal},
  });
  const parts = {allocations, runtimeState, pleg, pods, workers, evictions, nodePressure, background};
  const handler = createHandler(options, {...parts, containerGc, boundary});
  const loop = new SyncLoop({queue, handler, clock, logger, onError: options.onInternalError});
  const unsubscribe = registry.probes?.subscribe((update) => {
    queue.probe(update);
  });
  onAbort(options.signal, () => unsubscribe?.());
  return {...parts, handler, loop};
}

function createPleg(options: KubeletCoreOptions): Pleg {
  const {runtime, clock, own, queue, onPlegNotice, signal, eventedPleg, needsEvents} = options;
  const plegOptions = {
    runtime,
    clock,
    isManaged: (uid: PodUid) => own.get(uid) !== undefined,
    push: (event: Parameters<SyncLoopQueue['pleg']>[0]) => queue.pleg(event),
    onNotice: onPlegNotice,
    signal,
  };
  return eventedPleg ? new EventedPleg({...plegOptions, needsEvents}) : new GenericPleg(plegOptions);
}

function createSyncHandler(
  options: KubeletCoreOptions,
  {pleg, runtimeState, allocations}: Pick<KubeletCore, 'pleg' | 'runtimeState' | 'allocations'>,
): ManagedPodSyncHandler {
  const {manager, registry, own, clock, logger, metrics, observer} = options;
  const isWanted = (uid: PodUid): boolean => manager.get(uid) !== undefined;
  return new ManagedPodSyncHandler({
    local: registry,
    own,
    orphans: options.createOrphanedPods({pleg, isWanted}),
    pleg,
    logger,
    clock,
    networkError: () => runtimeState.networkError,
    isWanted,
    mirrorStatus: (uid) => manager.mirrorStatus(uid),
    resizeReview: (uid) => allocations.getResizeReview(uid),
    syncFrequencyMs: options.syncFrequencyMs,
    ...(observer && {observer}),
    ...(metrics && {metrics}),
  });
}

function createPodWorkers(
  options: KubeletCoreOptions,
  {
    pleg,
    pods,
    allocations,
    boundary,
  }: Pick<KubeletCore, 'pleg' | 'pods' | 'allocations'> & {readonly boundary: PodErrorBoundary},
  onEvicted: (uid: PodUid) => void,
): PodWorkers {
  const {clock, random, logger, events, metrics = NO_METRICS, wrapHandler} = options;
  return new PodWorkers({
    ...(wrapHandler?.(pods, pleg) ?? {handler: pods, cache: pleg.cache}),
    requestRelist: (uid) => {
      pleg.requestRelist(uid);
    },
    allocated: (pod) => allocations.getAllocatedPod(pod),
    clock,
    random,
    logger,
    events,
    syncFrequencyMs: options.syncFrequencyMs,
    metrics,
    tracer: options.tracer,
    onInternalError: (pod, error) => {
      boundary.reportWork(pod, error);
    },
    onFinished: (uid, wasEvicted) => {
      options.onPodChanged?.(uid);
      if (wasEvicted) onEvicted(uid);
    },
  });
}

function createHandler(
  options: KubeletCoreOptions,
  parts: Omit<KubeletCore, 'handler' | 'loop'> & {
    readonly containerGc: PeriodicContainerGc;
    readonly boundary: PodErrorBoundary;
  },
): KubeletHandler {
  const {allocations, runtimeState, pleg, pods, workers, evictions, nodePressure} = parts;
  const {containerGc, boundary, background} = parts;
  const {manager, registry, own, clock, logger, events, metrics, queue} = options;
  const admission = new PodAdmission({
    node: options.node,
    nodeManagers: registry.nodeManagers,
    nodeObject: options.nodeObject,
    pressures: () => nodePressure?.pressures ?? [],
    enabled: options.admission,
    rejections: options.rejections,
    isManaged: (uid) => own.getPresent(uid) !== undefined,
    allocations,
    killPod: (pod, kill, signal) => killPodNow({workers, clock, events}, pod, kill, signal),
    ...{events, clock, logger, metrics},
  });
  const cleanups = new PodCleanups({
    ...{manager, workers, pods, pleg, metrics, background, clock},
    boundary,
    isRejected: (uid) => admission.isRejected(uid),
    cleanupProbes: (keep) => registry.probes?.cleanupPods(keep),
  });
  return new KubeletHandler({
    ...{manager, workers, pods, admission, allocations, cleanups, containerGc, evictions, clock, logger},
    ...{boundary, background},
    requeue: (op, desired) => {
      queue.config({op, source: configSourceOf(desired.pod) ?? 'api', pods: [desired]});
    },
    errors: () => findSyncErrors(runtimeState, pleg),
    seenAllSources: options.seenAllSources,
    onPodChanged: (uid) => options.onPodChanged?.(uid),
  });
}

function createContainerGc(
  {containerGc: policy, clock, node, runtime, own, logger, tracer}: KubeletCoreOptions,
  {pods, workers}: Pick<KubeletCore, 'pods' | 'workers'>,
): PeriodicContainerGc {
  const links = openContainerLogLinks(node);
  const isOwn = (uid: string): boolean => own.get(podUid(uid)) !== undefined;
  return new PeriodicContainerGc({
    collector: pods,
    deadLogLinks: links && new DeadLogLinks({links, runtime, isOwn, logger}),
    isUnwanted: (uid) => workers.shouldContentBeRemoved(uid),
    isUnused: (uid) => workers.isTerminated(uid),
    ...{policy, clock, tracer},
  });
}

/** Returns the reasons why pods cannot be synced now: errors of the runtime, its network or the PLEG. */
function findSyncErrors(runtimeState: RuntimeState, pleg: Pleg): readonly string[] {
  const unhealthy = pleg.unhealthyReason();
  const plegErrors = unhealthy === undefined ? [] : [`PLEG is not healthy: ${unhealthy}`];
  return [...runtimeState.errors(), ...plegErrors];
}
