import {messageOf} from '../base/errors.js';
import type {LogFields} from '../base/logger.js';
import {goQuote} from './go-quote.js';

/** One thing that is logged. */
export interface LogRecord {
  readonly severity: 'info' | 'error';
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly pid: number;
  /** Where in the program: `kubelet/kubelet.js:12`. */
  readonly caller: string;
  readonly message: string;
  /** Why, of an error; undefined for none. */
  readonly error?: unknown;
  readonly fields: LogFields;
  /** From which verbosity on it is said. */
  readonly verbosity: number;
}

const LETTERS = {info: 'I', error: 'E'} as const satisfies Record<LogRecord['severity'], string>;

/**
 * The record as klog's text has it: `I1120 12:34:56.789000    4711 kubelet.js:12] "Message" key="value"`, in local
 * time. A text of several lines takes several lines.
 */
export function klogText(record: LogRecord): string {
  const {severity, time, pid, caller, message, error, fields} = record;
  const head = `${LETTERS[severity]}${klogTime(new Date(time))} ${String(pid).padStart(7)} ${caller.replace(/^.*\//, '')}]`;
  const all: readonly (readonly [string, unknown])[] = [
    ...(error === undefined ? [] : [['err', messageOf(error)] as const]),
    ...Object.entries(fields),
  ];
  return `${head} ${goQuote(message)}${all.map(([key, value]) => ` ${key}=${klogValue(value)}`).join('')}\n`;
}

/**
 * The record as a line of JSON, as component-base's JSON format has it (zap's production encoder): `ts` in
 * milliseconds, `v` for information only, `err` last.
 */
export function klogJson({severity, time, caller, message, error, fields, verbosity}: LogRecord): string {
  const members: readonly (readonly [string, unknown])[] = [
    ['ts', time],
    ['caller', caller],
    ['msg', message],
    ...(severity === 'info' ? [['v', verbosity] as const] : []),
    ...Object.entries(fields),
    ...(error === undefined ? [] : [['err', messageOf(error)] as const]),
  ];
  return `{${members.map(([key, value]) => `${JSON.stringify(key)}:${json(value)}`).join(',')}}\n`;
}

function klogTime(date: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${two(date.getMonth() + 1)}${two(date.getDate())}`;
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
  return `${day} ${time}.${String(date.getMilliseconds()).padStart(3, '0')}000`;
}

/** Texts and errors in Go's quotes, or line by line between `<` and ` >`; everything else as Go's JSON (KVFormat). */
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

/** As Go's encoder writes a struct, in the order of its fields; what can't be written says why. */
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
