import type {Pod} from '../../../api/types/v1-pod.js';
import {podRef, type PodRef} from '../../contract/pod-ref.js';
import type {EvictionSignal, EvictionThreshold} from '../../contract/resources/eviction-settings.js';
import type {NodeMeasurement} from '../../daemon/create-node-pressure.js';
import {
  mostUrgent,
  NO_PRESSURE,
  observePressure,
  starvedResource,
  withContainerFsThresholds,
  type PressureState,
  type StarvedResource,
} from '../../pods/eviction/pressure-state.js';
import {rankForEviction} from '../../pods/eviction/rank-pods.js';
import {isCriticalPod} from '../../sources/critical-pod.js';

/** Shortage of a node because of which a kubelet evicts pods as soon as it has started. */
export interface PlannedEviction {
  readonly resource: StarvedResource;
  /** Pod that is evicted first, if nothing else can be removed; undefined if none may be. */
  readonly first: PodRef | undefined;
}

/** Shortage because of which a kubelet evicts pods if it lasts for the grace period of a soft threshold. */
export interface PlannedSoftEviction extends PlannedEviction {
  readonly signal: EvictionSignal;
  readonly gracePeriodSeconds: number;
}

/** Evictions after the first observation of a node. */
export interface PlannedEvictions {
  /** For the most urgent threshold without a grace period; undefined if none is met. */
  readonly eviction: PlannedEviction | undefined;
  /** For the met threshold with the shortest grace period of each other resource. */
  readonly softEvictions: readonly PlannedSoftEviction[];
}

/**
 * Returns what a kubelet would evict after its first observation of the node, and later if nothing changes (eviction_manager.go
 * synchronize). A kubelet that starts counts grace periods from its first observation. Rejects like the measurement.
 */
export async function planEvictions(
  {settings, readSignals, readUsages}: NodeMeasurement,
  active: readonly Pod[],
  signal: AbortSignal,
): Promise<PlannedEvictions> {
  if (settings.thresholds.length === 0) return {eviction: undefined, softEvictions: []};
  const {observations, layout} = await readSignals(signal);
  const thresholds = withContainerFsThresholds(settings.thresholds, layout);
  const state = observePressure(NO_PRESSURE, thresholds, observations, 0);
  const urgent = mostUrgent(state);
  const soft = softThresholds(state, urgent);
  if (urgent === undefined && soft.length === 0) return {eviction: undefined, softEvictions: []};
  const usages = await readUsages(active, signal);
  const evictionFor = (threshold: EvictionThreshold): PlannedEviction => {
    const ranked = rankForEviction(threshold.signal, active, usages, layout);
    const first = ranked.find((pod) => !isCriticalPod(pod));
    return {resource: starvedResource(threshold.signal), first: first && podRef(first)};
  };
  return {
    eviction: urgent && evictionFor(urgent),
    softEvictions: soft.map((threshold) => ({
      ...{signal: threshold.signal, gracePeriodSeconds: threshold.gracePeriodMs / 1000},
      ...evictionFor(threshold),
    })),
  };
}

/** Returns the thresholds that are met but not due: of each resource, without that of the urgent one, the one that is due first. */
function softThresholds(
  {metSince, due}: PressureState,
  urgent: EvictionThreshold | undefined,
): readonly EvictionThreshold[] {
  const pending = [...metSince.keys()].filter((threshold) => !due.includes(threshold));
  const resourceOf = ({signal}: EvictionThreshold): StarvedResource => starvedResource(signal);
  const resources = new Set(pending.map(resourceOf));
  if (urgent !== undefined) resources.delete(resourceOf(urgent));
  return [...resources].flatMap((resource) =>
    pending
      .filter((threshold) => resourceOf(threshold) === resource)
      .toSorted((a, b) => a.gracePeriodMs - b.gracePeriodMs)
      .slice(0, 1),
  );
}
