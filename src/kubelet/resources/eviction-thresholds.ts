import {parseQuantity, type Amount} from '../../api/quantity.js';
import {ConfigError, messageOf} from '../../base/errors.js';
import {durationFault, parseDuration} from '../../format/duration.js';
import {
  EVICTION_SIGNALS,
  type EvictionSettings,
  type EvictionSignal,
  type EvictionThreshold,
  type ThresholdValue,
} from '../contract/resources/eviction-settings.js';

/** Values of the configuration fields about eviction. */
export interface EvictionFields {
  readonly evictionHard: ThresholdTexts;
  readonly evictionSoft: ThresholdTexts;
  readonly evictionSoftGracePeriod: ThresholdTexts;
  readonly evictionMinimumReclaim: ThresholdTexts;
  readonly evictionPressureTransitionPeriod: string;
  readonly evictionMaxPodGracePeriod: number;
  readonly mergeDefaultEvictionSettings: boolean;
  readonly enforceNodeAllocatable: readonly string[];
}

type ThresholdTexts = Readonly<Record<string, string>>;

/** Hard thresholds of a kubelet without evictionHard (eviction.DefaultEvictionHard). */
export const DEFAULT_EVICTION_HARD: ThresholdTexts = {
  'memory.available': '100Mi',
  'nodefs.available': '10%',
  'nodefs.inodesFree': '5%',
  'imagefs.available': '15%',
  'imagefs.inodesFree': '5%',
};

/**
 * Returns the settings of a configuration (ParseThresholdConfig). The hard threshold of the node's memory also applies to
 * the cgroup of all pods if that is limited.
 *
 * @throws ConfigError with the kubelet's message for an unknown signal or an invalid value.
 */
export function parseEvictionSettings(fields: EvictionFields): EvictionSettings {
  const {evictionHard, mergeDefaultEvictionSettings: merges} = fields;
  const minReclaims = parseMinimumReclaims(fields.evictionMinimumReclaim);
  const graces = parseGracePeriods(fields.evictionSoftGracePeriod);
  const hard = parseThresholds(merges ? {...DEFAULT_EVICTION_HARD, ...evictionHard} : evictionHard);
  const soft = parseThresholds(fields.evictionSoft).map((threshold) => ({
    ...threshold,
    gracePeriodMs: graces.get(threshold.signal) ?? 0,
  }));
  const thresholds = [...hard, ...soft].map((threshold) => {
    const minReclaim = minReclaims.get(threshold.signal);
    return minReclaim === undefined ? threshold : {...threshold, minReclaim};
  });
  const ofPods = fields.enforceNodeAllocatable.includes('pods') ? thresholds.flatMap(toAllocatable) : [];
  return {
    thresholds: [...thresholds, ...ofPods],
    pressureTransitionMs: toMs(parseDuration(fields.evictionPressureTransitionPeriod) ?? 0n),
    maxPodGraceSeconds: fields.evictionMaxPodGracePeriod,
  };
}

/**
 * Parses thresholds; each has no grace period. 0% and 100% disable a threshold (parseThresholdStatement).
 *
 * @throws ConfigError with the kubelet's message for an unknown signal or an invalid value.
 */
export function parseThresholds(texts: ThresholdTexts): readonly EvictionThreshold[] {
  return Object.entries(texts).flatMap(([name, text]) => {
    const signal = parseSignal(name);
    if (text === '0%' || text === '100%') return [];
    const value = parseValue(text);
    if ('share' in value && value.share < 0)
      throw new ConfigError(`eviction percentage threshold ${signal} must be >= 0%: ${text}`);
    if ('share' in value && value.share > 1)
      throw new ConfigError(`eviction percentage threshold ${signal} must be <= 100%: ${text}`);
    if ('amount' in value && value.amount.nanos <= 0n)
      throw new ConfigError(`eviction threshold ${signal} must be positive: ${text}`);
    return [{signal, value, gracePeriodMs: 0}];
  });
}

/**
 * Parses grace periods in ms (parseGracePeriods).
 *
 * @throws ConfigError with the kubelet's message for an unknown signal or an invalid duration.
 */
export function parseGracePeriods(texts: ThresholdTexts): ReadonlyMap<EvictionSignal, number> {
  return new Map(
    Object.entries(texts).map(([name, text]): [EvictionSignal, number] => {
      const signal = parseSignal(name);
      const nanos = parseDuration(text);
      if (nanos === undefined) throw new ConfigError(durationFault(text));
      if (nanos < 0n)
        throw new ConfigError(`invalid eviction grace period specified: ${text}, must be a positive value`);
      return [signal, toMs(nanos)];
    }),
  );
}

/**
 * Parses amounts to reclaim (parseMinimumReclaims).
 *
 * @throws ConfigError with the kubelet's message for an unknown signal or an invalid value.
 */
export function parseMinimumReclaims(texts: ThresholdTexts): ReadonlyMap<EvictionSignal, ThresholdValue> {
  return new Map(
    Object.entries(texts).map(([name, text]): [EvictionSignal, ThresholdValue] => {
      const signal = parseSignal(name);
      const value = parseValue(text);
      if ('share' in value && value.share <= 0)
        throw new ConfigError(`eviction percentage minimum reclaim ${signal} must be positive: ${text}`);
      if ('amount' in value && value.amount.nanos < 0n)
        throw new ConfigError(`negative eviction minimum reclaim specified for ${signal}`);
      return [signal, value];
    }),
  );
}

/** Returns the bytes, inodes or processes of a threshold's value (GetThresholdQuantity). */
export function thresholdAmount(value: ThresholdValue, capacity: bigint): Amount {
  if ('amount' in value) return value.amount;
  const units = BigInt(Math.trunc(Number(capacity) * value.share));
  return {nanos: units * NANOS_PER_UNIT, format: 'BinarySI'};
}

/** Returns the units that the hard thresholds of a signal reserve (hardEvictionReservation); 0 without one. */
export function evictionReserve(
  thresholds: readonly EvictionThreshold[],
  signal: EvictionSignal,
  capacity: bigint,
): bigint {
  const hard = thresholds.find((each) => each.signal === signal && each.gracePeriodMs === 0);
  return hard === undefined ? 0n : thresholdAmount(hard.value, capacity).nanos / NANOS_PER_UNIT;
}

const NANOS_PER_UNIT = 1_000_000_000n;
const toMs = (nanos: bigint): number => Number(nanos) / 1e6;

/** Returns the threshold of all pods' memory that follows from one of the node's (addAllocatableThresholds). */
function toAllocatable(threshold: EvictionThreshold): readonly EvictionThreshold[] {
  const {signal, gracePeriodMs} = threshold;
  if (signal !== 'memory.available' || gracePeriodMs > 0) return [];
  return [{...threshold, signal: 'allocatableMemory.available'}];
}

function parseSignal(name: string): EvictionSignal {
  const signal = EVICTION_SIGNALS.find((each) => each === name);
  if (signal !== undefined) return signal;
  throw new ConfigError(
    `unsupported eviction signal ${name}; must be one of: ${EVICTION_SIGNALS.join(', ')}`,
  );
}

const PERCENTAGE = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?%$/;

/** Parses a quantity or a percentage. The kubelet stores a share as a 32-bit float, which affects its last digits. */
function parseValue(text: string): ThresholdValue {
  if (!text.endsWith('%')) {
    try {
      return {amount: parseQuantity(text)};
    } catch (error) {
      throw new ConfigError(`${JSON.stringify(text)}: ${messageOf(error)}`);
    }
  }
  if (!PERCENTAGE.test(text)) throw new ConfigError(`${JSON.stringify(text)} is not a percentage`);
  return {share: Math.fround(Math.fround(Number(text.slice(0, -1))) / 100)};
}
