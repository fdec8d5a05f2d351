import {byKey} from '../../base/compare.js';
import {floatText} from '../go-float.js';
import {isJsonList, type Json, type JsonObject} from '../json.js';

/** A number that a template made itself. Numbers in the data are Go's json.Number: text that looks like a number. */
export class GoNumber {
  readonly type: 'int' | 'float64' | 'uint8';
  readonly value: number | bigint;

  constructor(type: GoNumber['type'], value: number | bigint) {
    this.type = type;
    this.value = value;
  }
}

/** What a template computes with: data, numbers of its own, and undefined for what Go calls no value. */
export type Value = Json | GoNumber | undefined;

/**
 * A value and how Go would hold it: what was found in a map or list is in an interface, which shows in errors
 * and makes nil a value.
 */
export interface Cell {
  readonly value: Value;
  readonly boxed: boolean;
}

/** A value that is held as it is; nil is no value there. */
export function plain(value: Value): Cell {
  return {value: value ?? undefined, boxed: false};
}

/** A value found in a map or list. */
export function boxed(value: Json): Cell {
  return {value, boxed: true};
}

/** An int. */
export function goInt(value: number | bigint): GoNumber {
  return new GoNumber('int', value);
}

/** The kinds of values that behave alike. */
export type ValueKind = 'none' | 'bool' | 'string' | 'number' | 'int' | 'uint' | 'float' | 'list' | 'map';

/** A value's kind; `number` is a json.Number. */
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

/** The name of a value's type in Go. */
export function typeName(value: Value): string {
  return TYPE_NAMES[kindOf(value)];
}

/** The name of the type that errors give a cell. */
export function cellType({value, boxed: isBoxed}: Cell): string {
  return isBoxed ? 'interface {}' : typeName(value);
}

/** Whether `if` takes a value for true: a json.Number is text, and true even when it is 0. */
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

/** A value as Go's `%v` prints it. */
export function valueText(value: Value): string {
  if (value === undefined || value === null) return '<nil>';
  if (value instanceof GoNumber)
    return value.type === 'float64' ? floatText(Number(value.value)) : String(value.value);
  if (typeof value !== 'object') return String(value);
  if (isJsonList(value)) return `[${value.map(valueText).join(' ')}]`;
  const members = Object.entries(value).sort(byKey);
  return `map[${members.map(([key, item]) => `${key}:${valueText(item)}`).join(' ')}]`;
}
