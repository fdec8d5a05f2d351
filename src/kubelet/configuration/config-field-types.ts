import {isAbsolute, resolve} from 'node:path';
import {
  anything,
  bool,
  int32,
  int64,
  list,
  map,
  object,
  objectSchema,
  required,
  secretText,
  text,
  time,
  type Field,
} from '../../api/schema/object-schema.js';
import type {Taint} from '../../api/types/v1-node.js';
import {parseQuantity} from '../../api/quantity.js';
import {isHugePageResource} from '../../api/resource-list.js';
import {messageOf, UsageError} from '../../base/errors.js';
import {omit} from '../../base/omit.js';
import {durationFault, parseDuration} from '../../format/duration.js';
import type {ShutdownPeriod} from '../contract/resources/shutdown-policy.js';
import {redactUrlText} from '../../format/redact-url.js';
import type {MemoryReservation} from '../contract/resources/memory-settings.js';

/** Type of a configuration field: its schema in files and its syntax in flags. */
export interface ConfigType<T> {
  /** Name of the type in the API reference. */
  readonly name: string;
  readonly schema: Field<T>;
  /** Parses the values of a flag, which may be repeated. Throws UsageError. */
  readonly fromFlags: (texts: readonly string[]) => T;
  /** Resolves a value of a file in the directory; by default the value is unchanged. */
  readonly inDirectory?: (value: T, directory: string) => T;
  /** Validates a value that matches the schema; returns the error message. */
  readonly problem?: (value: T) => string | undefined;
  /** Reports whether a value is Go's zero value; without it no value is, as of a list, a map or a pointer. */
  readonly isZero?: (value: T) => boolean;
  /** Masking of credentials; source lines of such a field are not shown. By default a field has none. */
  readonly redaction?: Redaction<T>;
}

/** Functions that mask credentials in a value and in the text of its flag. */
interface Redaction<T> {
  readonly value: (value: T) => T;
  readonly flagText: (text: string) => string;
}

const last = (texts: readonly string[]): string => texts.at(-1) ?? '';

const isEmpty = (value: string): boolean => value === '';

export const TEXT: ConfigType<string> = {name: 'string', schema: text, fromFlags: last, isZero: isEmpty};

/** A path; a relative one is resolved against the directory of the file (configfiles.go resolveRelativePaths). */
export const PATH: ConfigType<string> = {
  ...TEXT,
  inDirectory: (path, directory) => (path === '' || isAbsolute(path) ? path : resolve(directory, path)),
};

/** A URL, which may contain credentials. */
export const URL_TEXT: ConfigType<string> = {
  ...TEXT,
  redaction: {value: redactUrlText, flagText: redactUrlText},
};

/** A boolean. One that is true by default is a pointer in Go. */
export const BOOL: ConfigType<boolean> = {
  name: 'boolean',
  schema: bool,
  fromFlags: (texts) => last(texts) === 'true',
};

function wholeNumber(texts: readonly string[]): number {
  const value = last(texts);
  if (!/^[+-]?\d{1,15}$/.test(value)) throw new UsageError('must be an integer');
  return Number(value);
}

const isZeroNumber = (value: number): boolean => value === 0;

export const INT32: ConfigType<number> = {
  name: 'int32',
  schema: int32,
  fromFlags: wholeNumber,
  isZero: isZeroNumber,
};

export const INT64: ConfigType<number> = {...INT32, name: 'int64', schema: int64};

/** A floating-point number; the schema of the Pod API has no such type. */
export const FLOAT: ConfigType<number> = {
  name: 'float64',
  schema: anything as Field<number>,
  fromFlags: (texts) => Number(last(texts)),
  problem: (value) => (typeof value === 'number' ? undefined : 'must be a number'),
};

/** Returns Go's error message for an invalid duration (time.ParseDuration). */
function durationProblem(value: string): string | undefined {
  if (parseDuration(value) !== undefined) return undefined;
  const isNumber = /^[+-]?(?:\d+\.?\d*|\.\d+)$/.test(value);
  return durationFault(value) + (isNumber ? ` (write ${JSON.stringify(`${value}s`)} for seconds)` : '');
}

/** A duration in Go's syntax: `1m30s`. */
export const DURATION: ConfigType<string> = {
  name: 'duration',
  schema: text,
  fromFlags: last,
  problem: durationProblem,
  isZero: (value) => parseDuration(value) === 0n,
};

function quantityProblem(value: string): string | undefined {
  try {
    parseQuantity(value);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** A quantity: `10Mi`. */
export const QUANTITY: ConfigType<string> = {
  name: 'quantity',
  schema: text,
  fromFlags: last,
  problem: quantityProblem,
  isZero: isEmpty,
};

/** A list of strings; its flag may be repeated and takes comma-separated values. */
export const TEXTS: ConfigType<readonly string[]> = {
  name: '[]string',
  schema: list(text),
  fromFlags: (texts) => texts.flatMap((value) => (value === '' ? [] : value.split(','))),
};

export const NUMBERS: ConfigType<readonly number[]> = {
  name: '[]int32',
  schema: list(int32),
  fromFlags: (texts) => TEXTS.fromFlags(texts).map((value) => wholeNumber([value])),
};

const pairs =
  (separator: string) =>
  (texts: readonly string[]): Readonly<Record<string, string>> =>
    Object.fromEntries(
      TEXTS.fromFlags(texts).map((pair) => {
        const at = pair.indexOf(separator);
        if (at <= 0) throw new UsageError(`${JSON.stringify(pair)} is not KEY${separator}VALUE`);
        return [pair.slice(0, at).trim(), pair.slice(at + separator.length).trim()];
      }),
    );

/** A map of strings; as a flag `cpu=1,memory=2Gi`. */
export const TEXT_MAP: ConfigType<Readonly<Record<string, string>>> = {
  name: 'map[string]string',
  schema: map(text),
  fromFlags: pairs('='),
};

/** A map of eviction thresholds; as a flag `memory.available<100Mi,nodefs.available<10%`. */
export const THRESHOLDS: ConfigType<Readonly<Record<string, string>>> = {
  ...TEXT_MAP,
  fromFlags: pairs('<'),
};

/** A map of booleans; as a flag `EventedPLEG=false,Other=true`. */
export const BOOL_MAP: ConfigType<Readonly<Record<string, boolean>>> = {
  name: 'map[string]bool',
  schema: map(bool),
  fromFlags: (texts) =>
    Object.fromEntries(
      Object.entries(pairs('=')(texts)).map(([key, value]) => {
        if (!/^(?:true|false)$/.test(value))
          throw new UsageError(`invalid value ${JSON.stringify(value)} of ${key}: must be true or false`);
        return [key, value === 'true'];
      }),
    ),
};

/** A map of headers; its flag takes `Name:value` and may be repeated. Errors omit the values, which may be secret. */
export const HEADERS: ConfigType<Readonly<Record<string, readonly string[]>>> = {
  name: 'map[string][]string',
  schema: map(list(secretText)),
  fromFlags: (texts) => {
    const headers: Record<string, string[]> = {};
    for (const header of TEXTS.fromFlags(texts)) {
      const at = header.indexOf(':');
      if (at <= 0) throw new UsageError('must be NAME:VALUE');
      (headers[header.slice(0, at).trim()] ??= []).push(header.slice(at + 1).trim());
    }
    return headers;
  },
  redaction: {
    value: (headers) => Object.fromEntries(Object.keys(headers).map((name) => [name, ['<masked>']])),
    flagText: () => 'CLASSIFIED',
  },
};

const TAINT = objectSchema<Taint>('Taint', {
  key: required(text),
  value: text,
  effect: required(text),
  timeAdded: time,
});

/** A list of taints; as a flag `key=value:NoSchedule,other:NoExecute`. */
export const TAINTS: ConfigType<readonly Taint[]> = {
  name: '[]Taint',
  schema: list(object(TAINT)),
  fromFlags: (texts) =>
    TEXTS.fromFlags(texts).map((taint) => {
      const [, key, value = '', effect] = /^([^=:]+)(?:=([^:]*))?:(\w+)$/.exec(taint) ?? [];
      if (key === undefined || effect === undefined)
        throw new UsageError(`${JSON.stringify(taint)} is not KEY=VALUE:EFFECT`);
      return {key, ...(value !== '' && {value}), effect};
    }),
};

const MEMORY_RESERVATION = objectSchema<MemoryReservation>('MemoryReservation', {
  numaNode: required(int32),
  limits: required(map(text)),
});

/** A list of reservations by NUMA node; as a flag `0:memory=1Gi,hugepages-2Mi=2Mi;1:memory=2Gi`, which may be repeated. */
export const MEMORY_RESERVATIONS: ConfigType<readonly MemoryReservation[]> = {
  name: '[]MemoryReservation',
  schema: list(object(MEMORY_RESERVATION)),
  fromFlags: (texts) =>
    texts
      .filter((value) => value !== '')
      .flatMap((value) => value.split(';'))
      .map(parseMemoryReservation),
  problem: (reservations) =>
    reservations.flatMap(({limits}) =>
      Object.values(limits).flatMap((value) => quantityProblem(value) ?? []),
    )[0],
};

/** Parses a reservation of a flag. Throws UsageError with the kubelet's text (ReservedMemoryVar). */
function parseMemoryReservation(reservation: string): MemoryReservation {
  const [node = '', types, ...rest] = reservation.split(':');
  if (types === undefined || rest.length > 0)
    throw new UsageError(
      `the reserved memory has incorrect format, expected numaNodeID:type=quantity[,type=quantity...], got ${reservation}`,
    );
  if (!/^[+-]?\d{1,9}$/.test(node))
    throw new UsageError(`failed to convert the NUMA node ID, expected integer, got ${node}`);
  const limits = types.split(',').map((limit) => {
    const [type = '', quantity, ...others] = limit.split('=');
    if (quantity === undefined || others.length > 0)
      throw new UsageError(`the reserved limit has incorrect value, expected type=quantity, got ${limit}`);
    if (type !== 'memory' && !isHugePageResource(type))
      throw new UsageError(`memory type conversion error, unknown type: ${JSON.stringify(type)}`);
    if (quantityProblem(quantity) !== undefined)
      throw new UsageError(`failed to parse the quantity: ${quantity}`);
    return [type, quantity] as const;
  });
  return {numaNode: Number(node), limits: Object.fromEntries(limits)};
}

const SHUTDOWN_PERIOD = objectSchema<ShutdownPeriod>('ShutdownGracePeriodByPodPriority', {
  priority: required(int32),
  shutdownGracePeriodSeconds: required(int64),
});

/** A list of periods by priority; no flag has this type. */
export const SHUTDOWN_PERIODS: ConfigType<readonly ShutdownPeriod[]> = {
  name: '[]ShutdownGracePeriodByPodPriority',
  schema: list(object(SHUTDOWN_PERIOD)),
  fromFlags: () => [],
};

/** Verbosity of the log lines of source files (VModuleItem). */
export interface FileVerbosity {
  /** Pattern of the name of the file without its extension. */
  readonly filePattern: string;
  readonly verbosity: number;
}

const FILE_VERBOSITY = objectSchema<FileVerbosity>('VModuleItem', {
  filePattern: required(text),
  verbosity: required(int32),
});

/** A list of verbosities; as a flag `pod-*=4,sync-loop=5`. */
export const FILE_VERBOSITIES: ConfigType<readonly FileVerbosity[]> = {
  name: '[]VModuleItem',
  schema: list(object(FILE_VERBOSITY)),
  fromFlags: (texts) =>
    TEXTS.fromFlags(texts).flatMap((item) => {
      if (item === '') return [];
      const [, filePattern, level = ''] = /^([^=]+)=([^=]+)$/.exec(item) ?? [];
      if (filePattern === undefined)
        throw new UsageError(`${JSON.stringify(item)} does not have the pattern=N format`);
      if (!/^\d{1,9}$/.test(level))
        throw new UsageError(`verbosity in ${JSON.stringify(item)} must be an integer`);
      return {filePattern, verbosity: Number(level)};
    }),
};

/** Reports whether a value, or everything in it, is zero, such as `{text: {infoBufferSize: "0"}}`. */
function isZeroThroughout(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).every(isZeroThroughout);
  return (
    [0, '', false, null].includes(value as null) || (typeof value === 'string' && parseDuration(value) === 0n)
  );
}

/** Any value; for fields that kcri does not interpret. */
export const ANYTHING: ConfigType<unknown> = {
  name: 'object',
  schema: anything,
  fromFlags: last,
  isZero: isZeroThroughout,
};

/** Returns the type as it is behind a pointer in Go, where only a missing value is defaulted. */
export function pointer<T>(type: ConfigType<T>): ConfigType<T> {
  return {...omit(type, 'isZero'), name: `*${type.name}`};
}
