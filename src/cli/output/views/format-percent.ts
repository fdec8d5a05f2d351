import {formatFixed} from '../../../format/decimal.js';

/** Formats a percentage as Go's `%.2f`. It is negative if a counter was reset. */
export function formatPercent(value: number): string {
  return `${value < 0 ? '-' : ''}${formatFixed(Math.abs(value), 2)}`;
}
