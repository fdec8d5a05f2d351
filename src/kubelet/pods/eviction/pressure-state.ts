import {NODE_PRESSURES, type NodePressure} from '../../contract/cluster/node-pressure.js';
import {thresholdAmount} from '../../resources/eviction-thresholds.js';
import type {
  EvictionSettings,
  EvictionSignal,
  EvictionThreshold,
} from '../../contract/resources/eviction-settings.js';
import type {FilesystemLayout, SignalObservations} from '../../contract/resources/node-signals.js';

/** Resource that an eviction reclaims (signalToResource). */
export type StarvedResource = 'memory' | 'ephemeral-storage' | 'inodes' | 'pids';

/** History of a node's pressure. Times are in ms of the monotonic clock. */
export interface PressureState {
  /** Thresholds that are met, with the time since when. */
  readonly metSince: ReadonlyMap<EvictionThreshold, number>;
  /** Met thresholds whose grace period is over. */
  readonly due: readonly EvictionThreshold[];
  /** Time at which each pressure was last observed. */
  readonly lastObserved: ReadonlyMap<NodePressure, number>;
}

export const NO_PRESSURE: PressureState = {metSince: new Map(), due: [], lastObserved: new Map()};

const PRESSURES: Readonly<Record<EvictionSignal, NodePressure>> = {
  'memory.available': 'MemoryPressure',
  'allocatableMemory.available': 'MemoryPressure',
  'nodefs.available': 'DiskPressure',
  'nodefs.inodesFree': 'DiskPressure',
  'imagefs.available': 'DiskPressure',
  'imagefs.inodesFree': 'DiskPressure',
  'containerfs.available': 'DiskPressure',
  'containerfs.inodesFree': 'DiskPressure',
  'pid.available': 'PIDPressure',
};

/** Returns the resource that a signal is about. */
export function starvedResource(signal: EvictionSignal): StarvedResource {
  if (signal === 'pid.available') return 'pids';
  if (signal.endsWith('.inodesFree')) return 'inodes';
  return PRESSURES[signal] === 'MemoryPressure' ? 'memory' : 'ephemeral-storage';
}

/**
 * Returns the thresholds that the observations meet. With `reclaiming`, the minimum to reclaim must be available in
 * addition. A resource that was not observed meets none (thresholdsMet).
 */
export function findMetThresholds(
  thresholds: readonly EvictionThreshold[],
  observations: SignalObservations,
  reclaiming: boolean,
): readonly EvictionThreshold[] {
  return thresholds.filter(({signal, value, minReclaim}) => {
    const observed = observations.get(signal);
    if (observed === undefined) return false;
    const {available, capacity} = observed;
    const more = reclaiming && minReclaim !== undefined ? thresholdAmount(minReclaim, capacity).nanos : 0n;
    return available * NANOS_PER_UNIT < thresholdAmount(value, capacity).nanos + more;
  });
}

const NANOS_PER_UNIT = 1_000_000_000n;

/**
 * Returns the state after an observation at `now` (managerImpl.synchronize): a threshold that was due stays met until the
 * minimum to reclaim is available.
 */
export function observePressure(
  state: PressureState,
  thresholds: readonly EvictionThreshold[],
  observations: SignalObservations,
  now: number,
): PressureState {
  const met = new Set([
    ...findMetThresholds(thresholds, observations, false),
    ...findMetThresholds(state.due, observations, true),
  ]);
  const metSince = new Map(
    [...met].map((threshold) => [threshold, state.metSince.get(threshold) ?? now] as const),
  );
  const due = [...metSince].flatMap(([threshold, since]) =>
    now - since >= threshold.gracePeriodMs ? [threshold] : [],
  );
  const observed = [...met].map(({signal}) => [PRESSURES[signal], now] as const);
  return {metSince, due, lastObserved: new Map([...state.lastObserved, ...observed])};
}

/** Returns the conditions of the node: a pressure lasts for the transition period after it was last observed. */
export function nodePressures(
  {lastObserved}: PressureState,
  {pressureTransitionMs}: Pick<EvictionSettings, 'pressureTransitionMs'>,
  now: number,
): readonly NodePressure[] {
  return NODE_PRESSURES.filter((pressure) => {
    const at = lastObserved.get(pressure);
    return at !== undefined && now - at < pressureTransitionMs;
  });
}

/** Returns the due threshold whose resource to reclaim first: memory before all others (byEvictionPriority). */
export function mostUrgent({due}: PressureState): EvictionThreshold | undefined {
  return due.find(({signal}) => PRESSURES[signal] === 'MemoryPressure') ?? due[0];
}

/**
 * Returns the thresholds with those of the containers' filesystem, which are the ones of the filesystem that it is on,
 * whatever the configuration says (UpdateContainerFsThresholds).
 */
export function withContainerFsThresholds(
  thresholds: readonly EvictionThreshold[],
  {dedicatedImageFs, splitContainerFs}: FilesystemLayout,
): readonly EvictionThreshold[] {
  const host = dedicatedImageFs && !splitContainerFs ? 'imagefs' : 'nodefs';
  const others = thresholds.filter(({signal}) => !signal.startsWith('containerfs.'));
  const copied = others.flatMap((threshold): readonly EvictionThreshold[] => {
    const {signal} = threshold;
    if (signal === `${host}.available`) return [{...threshold, signal: 'containerfs.available'}];
    if (signal === `${host}.inodesFree`) return [{...threshold, signal: 'containerfs.inodesFree'}];
    return [];
  });
  return [...others, ...copied];
}
