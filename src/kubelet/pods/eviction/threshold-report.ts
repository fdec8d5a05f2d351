import {formatAmount} from '../../../api/quantity.js';
import type {
  EvictionSignal,
  EvictionThreshold,
  ThresholdValue,
} from '../../contract/resources/eviction-settings.js';
import type {SignalObservations} from '../../contract/resources/node-signals.js';

/** Eviction threshold and the current value of its signal. Numbers are texts, since they may be large. */
export interface ThresholdReport {
  readonly signal: EvictionSignal;
  /** Grace period of a soft threshold in seconds; absent for a hard one. */
  readonly gracePeriodSeconds?: number;
  /** Amount or share, such as `100Mi` or `10%`. */
  readonly value: string;
  /** Bytes, inodes or processes; absent if the signal was not observed. */
  readonly available?: string;
  readonly capacity?: string;
  readonly isMet: boolean;
}

/** Returns thresholds with the last observations. */
export function reportThresholds(
  thresholds: readonly EvictionThreshold[],
  observations: SignalObservations,
  isMet: (threshold: EvictionThreshold) => boolean,
): readonly ThresholdReport[] {
  return thresholds.map((threshold) => {
    const {signal, value, gracePeriodMs} = threshold;
    const observed = observations.get(signal);
    return {
      signal,
      ...(gracePeriodMs > 0 && {gracePeriodSeconds: gracePeriodMs / 1000}),
      value: valueText(value),
      ...(observed && {available: String(observed.available), capacity: String(observed.capacity)}),
      isMet: isMet(threshold),
    };
  });
}

function valueText(value: ThresholdValue): string {
  return 'amount' in value ? formatAmount(value.amount) : `${Number((value.share * 100).toPrecision(6))}%`;
}
