import {messageOf} from '../base/errors.js';
import type {LogFields} from '../base/logger.js';
import {findCriError} from '../cri/errors.js';
import {goQuote} from './go-quote.js';

/** Log record. */
export interface LogRecord {
  readonly severity: 'info' | 'warning' | 'error';
  /** Time in ms since the epoch. */
  readonly time: number;
  readonly pid: number;
  /** Source position, see positionIn. */
  readonly caller: string;
  readonly message: string;
  /** Logged error; undefined for none. */
  readonly error?: unknown;
  readonly fields: LogFields;
  /** Minimum verbosity at which the record is logged. */
  readonly verbosity: number;
}

/** Returns the position of a log call. klog's parsers need a line; klog itself writes 1 when it does not know it. */
export function positionIn(file: string): string {
  return `${file}:1`;
}

const LETTERS = {info: 'I', warning: 'W', error: 'E'} as const satisfies Record<
  LogRecord['severity'],
  string
>;

/**
 * Formats a record as klog text: `I1120 12:34:56.789000 4711 kubelet.js:12] "Message" key="value"`, in local time.
 * Multi-line values take several lines.
 */
export function formatKlogText(record: LogRecord): string {
  const {severity, time, pid, caller, message, error, fields} = record;
  const head = `${LETTERS[severity]}${klogTime(new Date(time))} ${String(pid).padStart(7)} ${caller.replace(/^.*\//, '')}]`;
  const all: readonly (readonly [string, unknown])[] = [
    ...(error === undefined ? [] : [['err', messageOf(error)] as const]),
    ...Object.entries({...rpcFields(error), ...fields}),
  ];
  return `${head} ${goQuote(message)}${all.map(([key, value]) => ` ${key}=${klogValue(value)}`).join('')}\n`;
}

/**
 * Formats a record as a line of component-base's JSON format (zap's production encoder): `ts` in milliseconds, `v`
 * for all but errors, `err` last.
 */
export function formatKlogJson({
  severity,
  time,
  caller,
  message,
  error,
  fields,
  verbosity,
}: LogRecord): string {
  const members: readonly (readonly [string, unknown])[] = [
    ['ts', time],
    ['caller', caller],
    ['msg', message],
    ...(severity !== 'error' ? [['v', verbosity] as const] : []),
    ...Object.entries({...rpcFields(error), ...fields}),
    ...(error === undefined ? [] : [['err', messageOf(error)] as const]),
  ];
  return `{${members.map(([key, value]) => `${JSON.stringify(key)}:${json(value)}`).join(',')}}\n`;
}

/** Returns the fields that identify a failed RPC; neither its message nor that of an error that wraps it has them. */
function rpcFields(error: unknown): LogFields {
  const failed = findCriError(error);
  return failed === undefined ? {} : {rpc: failed.method, endpoint: failed.endpoint};
}

function klogTime(date: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${two(date.getMonth() + 1)}${two(date.getDate())}`;
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
  return `${day} ${time}.${String(date.getMilliseconds()).padStart(3, '0')}000`;
}

/**
 * Formats a value: strings and errors quoted like Go, or line by line between `<` and ` >`; other values as Go's JSON
 * (KVFormat).
 */
function klogValue(value: unknown): string {
  if (typeof value === 'string') return value.includes('\n') ? lines(value) : goQuote(value);
  return value instanceof Error ? klogValue(value.message) : goJson(value);
}

function lines(text: string): string {
  const shown = text.replace(/\n$/, '').replaceAll('\n', '\n\t');
  return `<\n\t${shown}\n >`;
}

const HTML: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

/** Formats a value like Go's encoder, with fields in order; on failure returns the reason. */
function goJson(value: unknown): string {
  return json(value).replace(/[<>&\u2028\u2029]/g, (character) => HTML[character] ?? character);
}

function json(value: unknown): string {
  const plain = (_: string, part: unknown): unknown =>
    typeof part === 'bigint' ? Number(part) : part instanceof Error ? part.message : part;
  try {
    return JSON.stringify(value ?? null, plain);
  } catch (error) {
    return JSON.stringify(`<internal error: ${messageOf(error)}>`);
  }
}
