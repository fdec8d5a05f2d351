import {isQuantity} from '../quantity.js';
import type {GoType} from './go-type.js';

type JsonObject = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Values that Go cannot tell from absent ones. */
const ZEROS: readonly unknown[] = ['', 0, false];

/** Returns the zero value of a member of a list or map. */
function zeroOf({kind}: GoType): unknown {
  if (kind === 'struct') return {};
  if (kind === 'integer' || kind === 'intOrString') return 0;
  return kind === 'bool' ? false : '';
}

/**
 * Returns a JSON value as Go decodes it into a type: without null, and without zero values where Go cannot tell them from
 * absent ones. Structs are never absent. Unknown fields stay, and parts of other types are absent.
 */
export function readGoValue(type: GoType, value: unknown): unknown {
  if (value === undefined || value === null) return undefined;
  switch (type.kind) {
    case 'pointer':
      return readGoValue(type.element, value);
    case 'slice':
      return Array.isArray(value) ? value.map((item) => readMember(type.element, item)) : undefined;
    case 'map':
      return isObject(value) ? readMap(type.element, value) : undefined;
    case 'struct':
      return isObject(value) ? readStruct(type, value) : undefined;
    case 'quantity':
      return readQuantity(value);
    default:
      return value;
  }
}

/** Returns the text of a quantity; undefined if it is wrong in a part that is removed before validation. */
function readQuantity(value: unknown): string | undefined {
  const text = typeof value === 'string' ? value.trim() : JSON.stringify(value);
  return isQuantity(text) ? text : undefined;
}

function readMember(type: GoType, value: unknown): unknown {
  return readGoValue(type, value) ?? zeroOf(type);
}

function readMap(element: GoType, value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, readMember(element, item)]));
}

/** Returns the fields of a struct by their names in JSON. */
function fieldsOf(type: GoType): readonly (readonly [jsonName: string, type: GoType])[] {
  if (type.kind !== 'struct') return [];
  return type.fields.flatMap((field) =>
    field.jsonName === undefined ? fieldsOf(field.type) : [[field.jsonName, field.type] as const],
  );
}

function readStruct(type: GoType, value: JsonObject): JsonObject {
  const known = fieldsOf(type).map(([name, field]) => {
    return [name, readField(field, Object.hasOwn(value, name) ? value[name] : undefined)] as const;
  });
  const all = {...value, ...Object.fromEntries(known)};
  return Object.fromEntries(
    Object.entries(all).filter(([, member]) => member !== undefined && member !== null),
  );
}

function readField(type: GoType, member: unknown): unknown {
  if (type.kind === 'struct') return readGoValue(type, member ?? {});
  // Defaults tell an absent quantity from one that is zero.
  if (type.kind === 'quantity') return readMember(type, member);
  const value = readGoValue(type, member);
  const isAbsent = ZEROS.includes(value) && type.kind !== 'pointer' && type.kind !== 'intOrString';
  return isAbsent ? undefined : value;
}
