import {alignLines, indentLines} from '../../cli/output/views/aligned-lines.js';
import type {KubeletReport} from '../../kubelet/index.js';

type Threshold = NonNullable<KubeletReport['thresholds']>[number];

const MIB = 2n ** 20n;

/** Returns the section about the eviction thresholds, to follow the output of `kubectl describe`; empty without any. */
export function thresholdSection(thresholds: readonly Threshold[] = []): string {
  if (thresholds.length === 0) return '';
  const rows = thresholds.map(({signal, gracePeriodSeconds, value, isMet, ...rest}) =>
    [
      signal,
      gracePeriodSeconds === undefined ? 'hard' : `soft (${gracePeriodSeconds}s)`,
      value,
      availableText(signal, rest),
      isMet ? 'yes' : 'no',
    ].join('\t'),
  );
  return alignLines([
    'Eviction Thresholds:',
    ...indentLines(1, [
      'Signal\tKind\tThreshold\tAvailable\tMet',
      '------\t----\t---------\t---------\t---',
      ...rows,
    ]),
  ]);
}

/** Returns what is available and its share of the capacity, such as `3174Mi (41%)`. */
function availableText(
  signal: Threshold['signal'],
  {available, capacity}: Pick<Threshold, 'available' | 'capacity'>,
): string {
  if (available === undefined || capacity === undefined) return '<unknown>';
  const [amount, whole] = [BigInt(available), BigInt(capacity)];
  const text = signal.endsWith('.available') && signal !== 'pid.available' ? `${amount / MIB}Mi` : available;
  return whole === 0n ? text : `${text} (${(amount * 100n) / whole}%)`;
}
