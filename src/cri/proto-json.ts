import {byKey} from '../base/compare.js';
import {ConfigError} from '../base/errors.js';
import {shorten} from '../base/shorten.js';
import type {Init} from './call-options.js';
import type {MessageName} from './gen/schema.js';
import type {MessageTypes} from './gen/types.js';
import {
  CRI_SCHEMAS,
  NEWER_THAN_CRICTL,
  type FieldSchema,
  type FieldType,
  type ScalarKind,
} from './message-schema.js';

type Json = string | number | boolean | null | readonly Json[] | {readonly [key: string]: Json};

/** Options of toJson. */
export interface ToJsonOptions {
  /**
   * Includes fields with default values, as crictl's lists do, except those that crictl does not know; absent
   * sub-messages become null. Default false.
   */
  readonly emitDefaults?: boolean;
  /** Field names: `camel` for podSandboxId (proto JSON, the default), `proto` for pod_sandbox_id. */
  readonly names?: 'camel' | 'proto';
}

/**
 * Converts a message to proto JSON: int64 as strings, bytes in base64, enums by name, fields in the order of the
 * .proto.
 */
export function toJson<Name extends MessageName>(
  name: Name,
  message: Init<MessageTypes[Name]>,
  options: ToJsonOptions = {},
): Record<string, Json> {
  return messageToJson(name, message as Record<string, unknown>, options);
}

function messageToJson(
  name: string,
  message: Readonly<Record<string, unknown>>,
  options: ToJsonOptions,
): Record<string, Json> {
  const result: Record<string, Json> = {};
  const {fields, defaults} = CRI_SCHEMAS.message(name);
  for (const field of fields) {
    const value = message[field.name] ?? defaults[field.name];
    const optional = options.emitDefaults !== true || NEWER_THAN_CRICTL.has(`${name}.${field.protoName}`);
    if (optional && isEmpty(field, value)) continue;
    result[options.names === 'proto' ? field.protoName : field.name] = fieldToJson(field, value, options);
  }
  return result;
}

function isEmpty(field: FieldSchema, value: unknown): boolean {
  if (value === undefined) return true;
  if (field.repeated) return (value as readonly unknown[]).length === 0;
  switch (field.type.kind) {
    case 'map':
      return Object.keys(value as object).length === 0;
    case 'message':
      return false;
    case 'enum':
      return field.type.values.numbers.get(value as string) === 0;
    case 'bytes':
      return (value as Uint8Array).length === 0;
    default:
      return value === '' || value === 0 || value === 0n || value === false;
  }
}

function fieldToJson(field: FieldSchema, value: unknown, options: ToJsonOptions): Json {
  if (value === undefined) return null;
  if (field.repeated)
    return (value as readonly unknown[]).map((item) => valueToJson(field.type, item, options));
  return valueToJson(field.type, value, options);
}

function valueToJson(type: FieldType, value: unknown, options: ToJsonOptions): Json {
  switch (type.kind) {
    case 'map':
      return sortedByKey(value as Record<string, string>);
    case 'message':
      return messageToJson(type.name, value as Record<string, unknown>, options);
    case 'enum':
      return enumJson(String(value));
    case 'int64':
    case 'uint64':
      return String(value);
    case 'bytes':
      return Buffer.from(value as Uint8Array).toString('base64');
    default:
      return value as Json;
  }
}

/** CRI 0.36 and older name signals SIGTERM and so on, and consumers of the output expect these names. */
const SIGNAL_PREFIX = 'SIGNAL_';

/** Returns the name of an enum's value in proto JSON. */
export function enumJson(name: string): string {
  return name.startsWith(SIGNAL_PREFIX) ? name.slice(SIGNAL_PREFIX.length) : name;
}

/** Sorts a map by key, as Go's proto JSON does. */
function sortedByKey(map: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(map).sort(byKey));
}

/** Options of fromJson. */
export interface FromJsonOptions {
  /** Called for each unknown key with its path, such as `linux.cgroup_parnet`, and the known names. */
  readonly onUnknown?: (path: string, known: readonly string[]) => void;
  /** Encoding of bytes fields: `base64` as in proto JSON (the default), or `text` as in config files. */
  readonly bytes?: 'base64' | 'text';
}

interface ReadContext {
  readonly options: FromJsonOptions;
  readonly path: string;
}

/**
 * Converts plain data to a message. Keys may be in snake_case or camelCase and are matched case-insensitively, as in
 * Go's JSON. Enums may be names or numbers. Numbers may be strings, and strings may be numbers or booleans. null
 * counts as absent. Throws ConfigError with the path of an invalid value.
 */
export function fromJson<Name extends MessageName>(
  name: Name,
  data: unknown,
  options: FromJsonOptions = {},
): Init<MessageTypes[Name]> {
  return messageFromJson(name, data, {options, path: ''}) as Init<MessageTypes[Name]>;
}

const comparable = (key: string): string => key.replaceAll('_', '').toLowerCase();

function messageFromJson(name: string, data: unknown, context: ReadContext): Record<string, unknown> {
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    throw wrongType(context, 'an object', data);
  const schema = CRI_SCHEMAS.message(name);
  const fields = new Map(schema.fields.map((field) => [comparable(field.name), field]));
  const message: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(data)) {
    const path = context.path === '' ? key : `${context.path}.${key}`;
    const field = fields.get(comparable(key));
    if (field === undefined)
      context.options.onUnknown?.(
        path,
        schema.fields.map(({protoName}) => protoName),
      );
    else if (value !== null && value !== undefined)
      message[field.name] = fieldFromJson(field, value, {...context, path});
  }
  return message;
}

function fieldFromJson(field: FieldSchema, value: unknown, context: ReadContext): unknown {
  if (!field.repeated) return valueFromJson(field.type, value, context);
  if (!Array.isArray(value)) throw wrongType(context, 'a list', value);
  return value.map((item, index) =>
    valueFromJson(field.type, item, {...context, path: `${context.path}[${index}]`}),
  );
}

type Range = readonly [lowest: bigint, highest: bigint];
const INT32: Range = [-(2n ** 31n), 2n ** 31n - 1n];
const UINT32: Range = [0n, 2n ** 32n - 1n];
const INT64: Range = [-(2n ** 63n), 2n ** 63n - 1n];
const UINT64: Range = [0n, 2n ** 64n - 1n];

type ScalarReader = (value: unknown, context: ReadContext) => unknown;

const SCALAR_READERS: Readonly<Record<ScalarKind, ScalarReader>> = {
  string: text,
  bytes: (value, context) =>
    Buffer.from(text(value, context), context.options.bytes === 'text' ? 'utf8' : 'base64'),
  bool: boolean,
  int32: (value, context) => Number(integerWithin(INT32, value, context)),
  uint32: (value, context) => Number(integerWithin(UINT32, value, context)),
  int64: (value, context) => integerWithin(INT64, value, context),
  uint64: (value, context) => integerWithin(UINT64, value, context),
  double: number,
};

function valueFromJson(type: FieldType, value: unknown, context: ReadContext): unknown {
  switch (type.kind) {
    case 'map':
      return mapFromJson(value, context);
    case 'message':
      return messageFromJson(type.name, value, context);
    case 'enum':
      return enumFromJson(type, value, context);
    default:
      return SCALAR_READERS[type.kind](value, context);
  }
}

function boolean(value: unknown, context: ReadContext): boolean {
  if (typeof value === 'boolean') return value;
  if (value === 'true' || value === 'false') return value === 'true';
  throw wrongType(context, 'true or false', value);
}

function mapFromJson(value: unknown, context: ReadContext): Record<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw wrongType(context, 'a map', value);
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      text(item, {...context, path: `${context.path}[${key}]`}),
    ]),
  );
}

function enumFromJson(type: FieldType & {kind: 'enum'}, value: unknown, context: ReadContext): string {
  const {names, numbers} = type.values;
  const name = String(value);
  if (/^-?\d+$/.test(name)) {
    const found = names.get(Number(name));
    if (found !== undefined) return found;
  }
  const found = [name, SIGNAL_PREFIX + name].find((each) => numbers.has(each));
  if (found === undefined)
    throw wrongType(context, `one of ${[...numbers.keys()].map(enumJson).join(', ')}`, value);
  return found;
}

/** Converts a value to a string. YAML reads `yes` and `1.5` as other types; their text is used, as crictl does. */
function text(value: unknown, context: ReadContext): string {
  if (['number', 'bigint', 'boolean'].includes(typeof value)) return String(value);
  if (typeof value !== 'string') throw wrongType(context, 'a string', value);
  return value;
}

function integer(value: unknown, context: ReadContext): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value);
  if (typeof value === 'string' && /^[+-]?\d+$/.test(value)) return BigInt(value);
  throw wrongType(context, 'an integer', value);
}

/** Reads an integer of a type; a value out of its range would wrap when it is encoded. */
function integerWithin([lowest, highest]: Range, value: unknown, context: ReadContext): bigint {
  const read = integer(value, context);
  if (read >= lowest && read <= highest) return read;
  throw wrongType(context, `an integer from ${lowest} to ${highest}`, value);
}

function number(value: unknown, context: ReadContext): number {
  const parsed = typeof value === 'number' ? value : typeof value === 'string' ? Number(value) : NaN;
  if (Number.isNaN(parsed)) throw wrongType(context, 'a number', value);
  return parsed;
}

function wrongType({path}: ReadContext, expected: string, value: unknown): ConfigError {
  // The document may be a file of another kind, such as /etc/passwd.
  return path === ''
    ? new ConfigError(`the document: must be ${expected}, not ${kindOf(value)}`)
    : new ConfigError(`${shorten(path, LONGEST_SHOWN)}: must be ${expected}, not ${describeValue(value)}`);
}

/** Maximum length of a path or value in an error. */
const LONGEST_SHOWN = 100;

function describeValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(shorten(value, LONGEST_SHOWN));
  return typeof value === 'object' && value !== null ? kindOf(value) : String(value);
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (value === null || value === undefined) return 'null';
  return (
    {object: 'an object', string: 'a string', boolean: 'a boolean'}[typeof value as string] ?? 'a number'
  );
}
