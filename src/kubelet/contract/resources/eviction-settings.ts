import type {Amount} from '../../../api/quantity.js';

/** Signals of resources that the node can run out of (eviction/api Signal). */
export const EVICTION_SIGNALS = [
  'memory.available',
  'allocatableMemory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'containerfs.available',
  'containerfs.inodesFree',
  'pid.available',
] as const;

export type EvictionSignal = (typeof EVICTION_SIGNALS)[number];

/** An amount of a resource, or a share of its capacity between 0 and 1 (eviction/api ThresholdValue). */
export type ThresholdValue = {readonly amount: Amount} | {readonly share: number};

/** Amount of a resource below which the node is under pressure (eviction/api Threshold). */
export interface EvictionThreshold {
  readonly signal: EvictionSignal;
  readonly value: ThresholdValue;
  /** Time in ms for which the threshold must be met before pods are evicted; 0 for a hard threshold. */
  readonly gracePeriodMs: number;
  /** Amount that must be available in addition before the pressure ends. */
  readonly minReclaim?: ThresholdValue | undefined;
}

/** Settings of node-pressure eviction (eviction.Config). */
export interface EvictionSettings {
  readonly thresholds: readonly EvictionThreshold[];
  /** Time in ms for which a condition of the node stays true after the pressure has ended. */
  readonly pressureTransitionMs: number;
  /** Longest grace period of a pod that a soft threshold evicts, in seconds. */
  readonly maxPodGraceSeconds: number;
}
