import {formatAge} from '../../format/age.js';
import {escapeToLine} from '../../format/escape-controls.js';
import {humanSize} from '../../format/human-size.js';

/** Formats a percentage; `-` if it is unknown. It is negative if a counter was reset. */
export function percentText(percent: number | undefined): string {
  if (percent === undefined) return '-';
  return Math.abs(percent) < 10 ? percent.toFixed(1) : percent.toFixed(0);
}

/** Formats a size in bytes with three digits; `-` if it is unknown. */
export function sizeText(bytes: number | undefined): string {
  return bytes === undefined ? '-' : humanSize(bytes, 3).replace(/(?<=\d)(?=[a-zA-Z])/, '\u00a0');
}

/** Formats the time since a start; `-` if there was none. */
export function ageText(startedMs: number | undefined, nowMs: number): string {
  return startedMs === undefined ? '-' : formatAge(nowMs - startedMs);
}

/** Returns a name that can be shown: control characters and those that change the direction of text are escaped. */
export function nameText(name: string): string {
  return escapeToLine(name);
}

/** Formats a time of day as people here write it. */
export function timeText(timeMs: number): string {
  return new Date(timeMs).toLocaleTimeString();
}

/** Returns the share of a number in percent, from 0 to 100. */
export function shareOf(part: number, whole: number): number {
  return whole <= 0 ? 0 : Math.max(0, Math.min((part / whole) * 100, 100));
}
