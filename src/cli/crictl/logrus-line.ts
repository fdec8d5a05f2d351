import {localOffsetMinutes} from '../../base/time-zone.js';
import {goQuote} from '../../format/go-quote.js';

/** Log level, as named by logrus. */
export type LogrusLevel = 'debug' | 'info' | 'warning' | 'error';

/** Options of a log line. */
export interface LogrusLineOptions {
  readonly nowMs: number;
  /** Start time of the program, in ms since the epoch. */
  readonly startMs: number;
  readonly terminal: boolean;
}

const COLORS = {debug: 37, info: 36, warning: 33, error: 31} as const satisfies Record<LogrusLevel, number>;

/** Formats a line of crictl's log: with fields for programs, with colors on a terminal. */
export function formatLogrusLine(
  level: LogrusLevel,
  message: string,
  {nowMs, startMs, terminal}: LogrusLineOptions,
): string {
  if (!terminal) {
    const text = message === '' ? '' : ` msg=${value(message)}`;
    return `time="${localTime(nowMs)}" level=${level}${text}\n`;
  }
  const seconds = String(Math.floor((nowMs - startMs) / 1000)).padStart(4, '0');
  const name = level.toUpperCase().slice(0, 4);
  return `\x1b[${COLORS[level]}m${name}\x1b[0m[${seconds}] ${message.replace(/\n$/, '').padEnd(44)} \n`;
}

function value(text: string): string {
  return /^[\w\-./@^+]*$/.test(text) ? text : goQuote(text);
}

/** Formats a time as RFC 3339 with seconds, in the local time zone. */
function localTime(ms: number): string {
  const offset = localOffsetMinutes(new Date(ms));
  const text = new Date(ms + offset * 60_000).toISOString().slice(0, 19);
  if (offset === 0) return `${text}Z`;
  const two = (number: number): string => String(Math.floor(number)).padStart(2, '0');
  const distance = Math.abs(offset);
  return `${text}${offset < 0 ? '-' : '+'}${two(distance / 60)}:${two(distance % 60)}`;
}
