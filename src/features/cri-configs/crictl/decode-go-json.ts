import {ConfigError} from '../../../base/errors.js';
import type {FieldType, ScalarKind} from '../../../cri/message-schema.js';
import {SELF_DECODING, fieldOf, targetOf, type GoJson, type GoObject, type Target} from './go-json-value.js';

/** Location of a value, as Go's errors name it. */
interface Place {
  /** Innermost message; undefined at the top. */
  readonly message: string | undefined;
  /** Fields from the top, without the indexes of lists and the keys of maps. */
  readonly path: readonly string[];
}

type Message = Record<string, unknown>;

/**
 * Decodes JSON into a message as Go's encoding/json does: integers are checked against their types, enums are numbers,
 * null leaves a value as it is, and unknown keys are ignored. Throws ConfigError with Go's text.
 */
export function decodeGoJson(name: string, json: GoJson): Message {
  const message: Message = {};
  if (json !== null) decodeMessage(name, json, message, {message: undefined, path: []});
  return message;
}

function decodeMessage(name: string, json: GoJson, message: Message, place: Place): Message {
  const decodesItself = name === SELF_DECODING;
  if (!isGoObject(json)) throw mismatch(json, decodesItself ? 'v1.stringKeyValue' : `v1.${name}`, place);
  for (const [key, value] of json.entries) {
    const field = fieldOf(name, key);
    if (field === undefined) continue;
    const inside = {message: decodesItself ? place.message : name, path: [...place.path, field.protoName]};
    message[field.name] = decodeValue(targetOf(field), value, message[field.name], inside);
  }
  return message;
}

/** Decodes a value over the one before of the same field, whose keys may differ in case. Undefined for an absent value. */
function decodeValue(target: NonNullable<Target>, json: GoJson, before: unknown, place: Place): unknown {
  switch (target.kind) {
    case 'list':
      return decodeList(target.item, json, place);
    case 'map':
      return decodeMap(json, before, place);
    case 'message':
      if (json === null) return undefined;
      return decodeMessage(target.name, json, (before ?? {}) as Message, place);
    default:
      return json === null ? before : decodeScalar(target, json, place);
  }
}

function decodeList(item: FieldType, json: GoJson, place: Place): unknown {
  if (json === null) return undefined;
  if (!isGoList(json)) throw mismatch(json, `[]${item.kind === 'message' ? '*' : ''}${goType(item)}`, place);
  return json.map((each) => decodeValue(item, each, undefined, place) ?? emptyItem(item));
}

/** Returns the value of a null in a list: an empty message, or the zero of the type. */
function emptyItem(item: FieldType): unknown {
  switch (item.kind) {
    case 'message':
      return {};
    case 'string':
      return '';
    case 'int64':
    case 'uint64':
      return 0n;
    default:
      return item.kind === 'enum' ? item.values.names.get(0) : 0;
  }
}

function decodeMap(json: GoJson, before: unknown, place: Place): unknown {
  if (json === null) return undefined;
  if (!isGoObject(json)) throw mismatch(json, 'map[string]string', place);
  const entries = json.entries.map(([key, value]) => {
    if (value !== null && typeof value !== 'string') throw mismatch(value, 'string', place);
    return [key, value ?? ''];
  });
  return {...(before as object | undefined), ...(Object.fromEntries(entries) as object)};
}

const INTEGERS: Partial<Record<FieldType['kind'], readonly [bits: number, signed: boolean]>> = {
  int32: [32, true],
  uint32: [32, false],
  int64: [64, true],
  uint64: [64, false],
  enum: [32, true],
};

function decodeScalar(type: FieldType, json: GoJson, place: Place): unknown {
  const integer = INTEGERS[type.kind];
  if (integer === undefined) return decodeOther(type, json, place);
  if (typeof json !== 'bigint' && typeof json !== 'number') throw mismatch(json, goType(type), place);
  const value = typeof json === 'bigint' || !Number.isSafeInteger(json) ? json : BigInt(json);
  const [bits, signed] = integer;
  const fits =
    typeof value === 'bigint' &&
    (signed ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value)) === value;
  if (!fits) throw mismatch(json, goType(type), place, ` ${String(json)}`);
  if (type.kind === 'enum') return type.values.names.get(Number(value)) ?? Number(value);
  return bits === 64 ? value : Number(value);
}

function decodeOther(type: FieldType, json: GoJson, place: Place): unknown {
  if (type.kind === 'bool' && typeof json === 'boolean') return json;
  if (type.kind === 'double' && (typeof json === 'number' || typeof json === 'bigint')) return Number(json);
  if (type.kind === 'string' && typeof json === 'string') return json;
  // The only bytes of configs are values of environment variables, which are written as text.
  if (type.kind === 'bytes' && typeof json === 'string') return Buffer.from(json);
  throw mismatch(json, goType(type), place);
}

const GO_SCALARS: Partial<Record<ScalarKind, string>> = {double: 'float64', bytes: 'string'};

function goType(type: FieldType): string {
  switch (type.kind) {
    case 'message':
      return `v1.${type.name}`;
    case 'enum':
      return `v1.${type.values.name}`;
    case 'map':
      return 'map[string]string';
    default:
      return GO_SCALARS[type.kind] ?? type.kind;
  }
}

function mismatch(json: GoJson, type: string, {message, path}: Place, shown = ''): ConfigError {
  const into = message === undefined ? 'value' : `struct field ${message}.${path.join('.')}`;
  return new ConfigError(
    `error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${kindOf(json)}${shown} into Go ${into} of type ${type}`,
  );
}

function kindOf(json: GoJson): string {
  if (typeof json === 'string') return 'string';
  if (typeof json === 'boolean') return 'bool';
  if (isGoList(json)) return 'array';
  return isGoObject(json) ? 'object' : 'number';
}

function isGoList(json: GoJson): json is readonly GoJson[] {
  return Array.isArray(json);
}

function isGoObject(json: GoJson): json is GoObject {
  return typeof json === 'object' && json !== null && !isGoList(json);
}
