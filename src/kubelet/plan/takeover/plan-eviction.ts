import type {Pod} from '../../../api/types/v1-pod.js';
import {podRef, type PodRef} from '../../contract/pod-ref.js';
import type {NodeMeasurement} from '../../daemon/create-node-pressure.js';
import {
  mostUrgent,
  NO_PRESSURE,
  observePressure,
  starvedResource,
  withContainerFsThresholds,
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

/**
 * Returns what a kubelet would evict after its first observation of the node: for thresholds without a grace period
 * (eviction_manager.go synchronize). Undefined if the node has enough of everything. Rejects like the measurement.
 */
export async function planEviction(
  {settings, readSignals, readUsages}: NodeMeasurement,
  active: readonly Pod[],
  signal: AbortSignal,
): Promise<PlannedEviction | undefined> {
  if (settings.thresholds.length === 0) return undefined;
  const {observations, layout} = await readSignals(signal);
  const thresholds = withContainerFsThresholds(settings.thresholds, layout);
  const urgent = mostUrgent(observePressure(NO_PRESSURE, thresholds, observations, 0));
  if (urgent === undefined) return undefined;
  const usages = await readUsages(active, signal);
  const ranked = rankForEviction(urgent.signal, active, usages, layout);
  const first = ranked.find((pod) => !isCriticalPod(pod));
  return {resource: starvedResource(urgent.signal), first: first && podRef(first)};
}
