import type {Pod} from '../../../api/types/v1-pod.js';
import type {PodStatus} from '../../../api/types/v1-status.js';
import type {Clock} from '../../../base/clock.js';
import type {FileLogger, Logger} from '../../../base/logger.js';
import type {PodUid} from '../../../cri/index.js';
import {formatRfc3339Seconds} from '../../../format/time.js';
import type {NodeEvent} from '../../contract/cluster/node-event.js';
import type {NodePressure} from '../../contract/cluster/node-pressure.js';
import type {KubeletMetrics} from '../../contract/kubelet-metrics.js';
import type {EventSink} from '../../contract/pod-event.js';
import {namespacedName, podRef} from '../../contract/pod-ref.js';
import type {EvictionSettings, EvictionThreshold} from '../../contract/resources/eviction-settings.js';
import type {
  FilesystemLayout,
  MeasuredPod,
  NodeSignals,
  SignalObservations,
} from '../../contract/resources/node-signals.js';
import {isCriticalPod} from '../../sources/critical-pod.js';
import {computeDisruptedStatus} from '../status/compute/disrupted-status.js';
import {EVICTED, GRACE_SECONDS, type EvictPod} from './eviction.js';
import {computeEvictionMessage} from './eviction-message.js';
import {
  findMetThresholds,
  mostUrgent,
  NO_PRESSURE,
  nodePressures,
  observePressure,
  starvedResource,
  withContainerFsThresholds,
} from './pressure-state.js';
import {rankForEviction} from './rank-pods.js';
import {reportThresholds, type ThresholdReport} from './threshold-report.js';
import {reclaimsContainers, reclaimsImages} from './reclaimed-resources.js';

/** Dependencies of {@link NodePressureManager}. */
export interface NodePressureOptions {
  readonly settings: EvictionSettings;
  /** Observes the resources of the node. */
  readonly readSignals: (signal: AbortSignal) => Promise<NodeSignals>;
  /**
   * Observes at least the node's memory: when it crosses a threshold, everything is observed at once. It is called whenever
   * `synchronize` is. Undefined to observe everything periodically only.
   */
  readonly readMemory?: (() => SignalObservations) | undefined;
  /** Measures pods; a pod that cannot be measured is absent. */
  readonly readUsages: (
    pods: readonly Pod[],
    signal: AbortSignal,
  ) => Promise<ReadonlyMap<PodUid, MeasuredPod>>;
  /** Removes dead containers, also of pods that have ended. Never rejects. */
  readonly deleteUnusedContainers: () => Promise<void>;
  readonly deleteUnusedImages: (signal: AbortSignal) => Promise<void>;
  readonly evictPod: EvictPod;
  /** Reports whether nothing of the pod is left to stop or release. */
  readonly isFinished: (uid: PodUid) => boolean;
  readonly events: EventSink;
  readonly nodeEvent: (event: NodeEvent) => void;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly logger: Logger;
  readonly metrics?: Pick<KubeletMetrics, 'podEvicted' | 'evictionStatsUsed'> | undefined;
}

/** Period in which the node is observed, in ms (evictionMonitoringPeriod). */
const PERIOD_MS = 10_000;
/** Longest time to wait for an evicted pod before the next eviction, in ms (podCleanupTimeout). */
const CLEANUP_MS = 30_000;

/**
 * Observes whether the node lacks memory, disk space, inodes or processes. If so, it removes what is not used, and then
 * evicts one pod after the other (eviction_manager.go synchronize).
 */
export class NodePressureManager {
  readonly #options: NodePressureOptions;
  readonly #logger: FileLogger;
  #state = NO_PRESSURE;
  /** Thresholds for the filesystems of this node; undefined before the first observation. */
  #thresholds: readonly EvictionThreshold[] | undefined;
  #observations: SignalObservations = new Map();
  #nextAt = 0;
  /** Start of the last observation. */
  #readAt = 0;
  /** Evicted pod that has not stopped yet. */
  #evicted: {readonly uid: PodUid; readonly waitUntil: number} | undefined;

  constructor(options: NodePressureOptions) {
    this.#options = options;
    this.#logger = options.logger.forFile('node-pressure-manager.ts');
  }

  /** Conditions of the node that are true now. */
  get pressures(): readonly NodePressure[] {
    const {settings, clock} = this.#options;
    return nodePressures(this.#state, settings, clock.monotonic());
  }

  /** Thresholds with the values of the last observation. */
  get thresholds(): readonly ThresholdReport[] {
    const {metSince} = this.#state;
    const thresholds = this.#thresholds ?? this.#options.settings.thresholds;
    return reportThresholds(thresholds, this.#observations, (each) => metSince.has(each));
  }

  /**
   * Observes the node every ten seconds, as soon as an evicted pod has stopped, or when its memory crosses a threshold, and
   * evicts one of the active pods if it must. Never rejects.
   */
  async synchronize(active: readonly Pod[], signal: AbortSignal): Promise<void> {
    try {
      if (!this.#isDue() && !this.#crossesThreshold()) return;
      this.#nextAt = this.#options.clock.monotonic() + PERIOD_MS;
      this.#evicted = undefined;
      await this.#synchronize(active, signal);
    } catch (error) {
      if (!signal.aborted) this.#logger.error(error, 'Eviction manager: failed to synchronize');
    }
  }

  #isDue(): boolean {
    const {clock, settings, isFinished} = this.#options;
    if (settings.thresholds.length === 0) return false;
    const now = clock.monotonic();
    if (this.#evicted === undefined) return now >= this.#nextAt;
    const {uid, waitUntil} = this.#evicted;
    return isFinished(uid) || now >= waitUntil;
  }

  /** Reports whether another threshold of memory is met than at the last observation (UpdateThreshold). */
  #crossesThreshold(): boolean {
    const {readMemory} = this.#options;
    const thresholds = this.#thresholds?.filter(({signal}) => starvedResource(signal) === 'memory') ?? [];
    if (readMemory === undefined || this.#evicted !== undefined || thresholds.length === 0) return false;
    const met = findMetThresholds(thresholds, readMemory(), false);
    return met.length !== findMetThresholds(thresholds, this.#observations, false).length;
  }

  async #synchronize(active: readonly Pod[], signal: AbortSignal): Promise<void> {
    const {settings, clock, nodeEvent} = this.#options;
    this.#readAt = clock.monotonic();
    const signals = await this.#options.readSignals(signal);
    const {observations, layout} = signals;
    this.#observations = observations;
    // The state refers to thresholds, so that they are created once.
    const thresholds = (this.#thresholds ??= withContainerFsThresholds(settings.thresholds, layout));
    this.#state = observePressure(this.#state, thresholds, observations, clock.monotonic());
    const urgent = mostUrgent(this.#state);
    if (urgent === undefined) return;
    const resource = starvedResource(urgent.signal);
    this.#logger.info('Eviction manager: attempting to reclaim', {resourceName: resource});
    const message = `Attempting to reclaim ${resource}`;
    nodeEvent({type: 'Warning', reason: 'EvictionThresholdMet', message});
    if (await this.#reclaim(urgent, thresholds, layout, signal)) return;
    this.#logger.info('Eviction manager: must evict pod(s) to reclaim', {resourceName: resource});
    await this.#evictOne(urgent, active, signals, signal);
  }

  /** Removes unused containers and images; resolves with true if that has ended the pressure. */
  async #reclaim(
    {signal: starved}: EvictionThreshold,
    thresholds: readonly EvictionThreshold[],
    layout: FilesystemLayout,
    signal: AbortSignal,
  ): Promise<boolean> {
    const {deleteUnusedContainers, deleteUnusedImages, readSignals} = this.#options;
    const [containers, images] = [reclaimsContainers(starved, layout), reclaimsImages(starved, layout)];
    if (!containers && !images) return false;
    if (containers) await deleteUnusedContainers();
    try {
      if (images) await deleteUnusedImages(signal);
    } catch (error) {
      signal.throwIfAborted();
      this.#logger.error(
        error,
        'Eviction manager: unexpected error when attempting to reduce resource pressure',
      );
    }
    const {observations} = await readSignals(signal);
    if (findMetThresholds(thresholds, observations, true).length > 0) return false;
    this.#logger.info('Eviction manager: able to reduce resource pressure without evicting pods');
    return true;
  }

  async #evictOne(
    urgent: EvictionThreshold,
    active: readonly Pod[],
    {observations, layout}: NodeSignals,
    signal: AbortSignal,
  ): Promise<void> {
    const {readUsages, clock} = this.#options;
    if (active.length === 0) {
      this.#logger.info(
        'Eviction manager: eviction thresholds have been met, but no pods are active to evict',
      );
      return;
    }
    const usages = await readUsages(active, signal);
    const ranked = rankForEviction(urgent.signal, active, usages, layout);
    const names = ranked.map((pod) => namespacedName(podRef(pod)));
    this.#logger.info('Eviction manager: pods ranked for eviction', {pods: names});
    const pod = ranked.find((each) => !isCriticalPod(each));
    if (pod === undefined) {
      this.#logger.info('Eviction manager: unable to evict any pods from the node');
      return;
    }
    const {uid} = podRef(pod);
    this.#evict(pod, usages.get(uid), urgent, observations);
    this.#evicted = {uid, waitUntil: clock.monotonic() + CLEANUP_MS};
  }

  #evict(
    pod: Pod,
    usage: MeasuredPod | undefined,
    {signal, gracePeriodMs}: EvictionThreshold,
    observations: SignalObservations,
  ): void {
    const {settings, evictPod, events, clock, metrics} = this.#options;
    const details = {resource: starvedResource(signal), thresholds: this.#state.due, observations};
    const {message, annotations} = computeEvictionMessage(pod, usage, details);
    const {terminationGracePeriodSeconds: own = settings.maxPodGraceSeconds} = pod.spec;
    const softSeconds = Math.min(settings.maxPodGraceSeconds, own);
    events({type: 'Warning', reason: EVICTED, message, pod, annotations});
    metrics?.podEvicted(signal);
    for (const due of this.#state.due)
      metrics?.evictionStatsUsed(due.signal, clock.monotonic() - this.#readAt);
    const disruption = {reason: EVICTED, message, conditionMessage: message};
    evictPod(pod, {
      gracePeriodSeconds: gracePeriodMs === 0 ? GRACE_SECONDS : softSeconds,
      status: (status: PodStatus) =>
        computeDisruptedStatus(pod, status, disruption, formatRfc3339Seconds(clock.now())),
    });
  }
}
