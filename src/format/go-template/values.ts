import {byKey} from '../../base/compare.js';
import {formatGoFloat} from '../go-float.js';
import {isJsonList, type Json, type JsonObject} from '../json.js';

/** Number computed by a template. Numbers in the data are json.Number in Go: strings of digits. */
export class GoNumber {
  readonly type: 'int' | 'float64' | 'uint8';
  readonly value: number | bigint;

  constructor(type: GoNumber['type'], value: number | bigint) {
    this.type = type;
    this.value = value;
  }
}

/** Value of a template: data, computed numbers, and undefined for Go's invalid value. */
export type Value = Json | GoNumber | undefined;

/**
 * Value and its representation in Go: values found in a map or list are in an interface, which appears in errors and
 * makes nil a value.
 */
export interface Cell {
  readonly value: Value;
  readonly boxed: boolean;
}

/** Returns a cell with an unboxed value, for which nil is not a value. */
export function plain(value: Value): Cell {
  return {value: value ?? undefined, boxed: false};
}

/** Returns a cell with a value found in a map or list. */
export function boxed(value: Json): Cell {
  return {value, boxed: true};
}

/** Returns an int. */
export function goInt(value: number | bigint): GoNumber {
  return new GoNumber('int', value);
}

/** Kinds of values. */
export type ValueKind = 'none' | 'bool' | 'string' | 'number' | 'int' | 'uint' | 'float' | 'list' | 'map';

/** Returns the kind of a value; `number` is a json.Number. */
export function kindOf(value: Value): ValueKind {
  if (value === undefined || value === null) return 'none';
  if (value instanceof GoNumber)
    return value.type === 'int' ? 'int' : value.type === 'uint8' ? 'uint' : 'float';
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'string':
      return 'string';
    case 'number':
    case 'bigint':
      return 'number';
    default:
      return isJsonList(value) ? 'list' : 'map';
  }
}

const TYPE_NAMES: Readonly<Record<ValueKind, string>> = {
  none: '<nil>',
  bool: 'bool',
  string: 'string',
  number: 'json.Number',
  int: 'int',
  uint: 'uint8',
  float: 'float64',
  list: '[]interface {}',
  map: 'map[string]interface {}',
};

/** Returns the Go type of a value. */
export function typeName(value: Value): string {
  return TYPE_NAMES[kindOf(value)];
}

/** Formats a value like Go's reflect.Value.String: texts as they are, other values by their type. */
export function reflectText(value: Value): string {
  const kind = kindOf(value);
  return kind === 'string' || kind === 'number' ? valueText(value) : `<${typeName(value)} Value>`;
}

/** Returns the Go type of a cell for errors. */
export function cellType({value, boxed: isBoxed}: Cell): string {
  return isBoxed ? 'interface {}' : typeName(value);
}

/** Reports whether `if` considers a value true. A json.Number is a string, and true even if it is 0. */
export function isTrue(value: Value): boolean {
  switch (kindOf(value)) {
    case 'none':
      return false;
    case 'number':
      return true;
    case 'list':
      return (value as readonly Json[]).length > 0;
    case 'map':
      return Object.keys(value as JsonObject).length > 0;
    default:
      return value instanceof GoNumber ? Number(value.value) !== 0 : Boolean(value);
  }
}

/** Formats a value like Go's `%v`. */
export function valueText(value: Value): string {
  if (value === undefined || value === null) return '<nil>';
  if (value instanceof GoNumber)
    return value.type === 'float64' ? formatGoFloat(Number(value.value)) : String(value.value);
  if (typeof value !== 'object') return String(value);
  if (isJsonList(value)) return `[${value.map(valueText).join(' ')}]`;
  const members = Object.entries(value).sort(byKey);
  return `map[${members.map(([key, item]) => `${key}:${valueText(item)}`).join(' ')}]`;
}
