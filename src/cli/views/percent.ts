import {fixed} from '../../format/decimal.js';

/** A percentage as Go's `%.2f`; a counter that began anew gives one below zero. */
export function percent(value: number): string {
  return `${value < 0 ? '-' : ''}${fixed(Math.abs(value), 2)}`;
}
