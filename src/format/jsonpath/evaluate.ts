import {byKey} from '../../base/compare.js';
import {isObject} from '../../base/is-object.js';
import {isJsonList, formatCompactJson, memberOf, type Json} from '../json.js';
import {TemplateError} from '../template-error.js';
import type {Filter, Part, Step} from './nodes.js';

/** Evaluates a JSONPath template; missing keys are skipped. Throws TemplateError. */
export function evaluateJsonPath(parts: readonly Part[], data: Json): string {
  return parts.map((part) => partText(part, data)).join('');
}

/** Returns the values that the paths of a template select. Throws TemplateError. */
export function selectJsonPath(parts: readonly Part[], data: Json): readonly Json[] {
  return parts.flatMap((part) => (part.kind === 'path' ? follow(part.steps, [data]) : []));
}

/** Error of an index beyond the end of a list. */
export class IndexError extends TemplateError {}

function partText(part: Part, data: Json): string {
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'path':
      return follow(part.steps, [data]).map(jsonPathText).join(' ');
    case 'range':
      return follow(part.steps, [data])
        .map((value) => evaluateJsonPath(part.parts, value))
        .join('');
  }
}

/** Formats a value: objects and lists as JSON, other values as text. */
function jsonPathText(value: Json): string {
  return typeof value === 'object' && value !== null ? formatCompactJson(value) : String(value);
}

function follow(steps: readonly Step[], values: readonly Json[]): readonly Json[] {
  return steps.reduce(take, values);
}

function take(values: readonly Json[], step: Step): readonly Json[] {
  switch (step.kind) {
    case 'text':
      return [step.text];
    case 'literal':
      return values.map(() => step.value);
    case 'identifier':
      throw new TemplateError(`unrecognized identifier ${step.name}`);
    case 'field':
      return values.flatMap((value) => present(member(value, step.name)));
    case 'key':
      return values.flatMap((value) => {
        const exact = member(value, step.key);
        return exact === undefined ? follow(step.path, [value]) : [exact];
      });
    case 'index':
      return lists(values).map((list) => itemAt(list, step.index));
    case 'slice':
      return lists(values).flatMap((list) => slice(list, step));
    case 'wildcard':
      return values.flatMap(children);
    case 'descent':
      return values.flatMap(descend);
    case 'union':
      return step.paths.flatMap((path) => follow(path, values));
    case 'filter':
      return values.flatMap((value) => filtered(value, step));
  }
}

function present(value: Json | undefined): readonly Json[] {
  return value === undefined ? [] : [value];
}

function member(value: Json, name: string): Json | undefined {
  return isObject(value) ? memberOf(value, name) : undefined;
}

/** Returns the lists among the values. Null counts as an empty list; other values are an error. */
function lists(values: readonly Json[]): readonly (readonly Json[])[] {
  return values
    .filter((value) => value !== null)
    .map((value) => {
      if (typeof value === 'object' && isJsonList(value)) return value;
      throw new TemplateError(`${typeName(value)} is not array or slice`);
    });
}

function typeName(value: Json): string {
  if (typeof value === 'object') return 'map[string]interface {}';
  return typeof value === 'string' ? 'string' : typeof value === 'boolean' ? 'bool' : 'int64';
}

function itemAt(list: readonly Json[], index: number): Json {
  const item = list[index < 0 ? index + list.length : index];
  if (item !== undefined) return item;
  const at = index < 0 ? index + list.length : index;
  throw new IndexError(`array index out of bounds: index ${at}, length ${list.length}`);
}

function slice(
  list: readonly Json[],
  {from = 0, to = list.length, step = 1}: Step & {kind: 'slice'},
): readonly Json[] {
  const start = from < 0 ? from + list.length : from;
  const end = to < 0 ? to + list.length : to;
  if (start === end) return [];
  for (const [bound, shown] of [
    [start, start],
    [end - 1, end - 1],
  ] as const)
    if (bound < 0 || bound >= list.length)
      throw new IndexError(`array index out of bounds: index ${shown}, length ${list.length}`);
  if (start > end) throw new TemplateError(`starting index ${start} is greater than ending index ${end}`);
  if (step <= 0) throw new TemplateError('step must be > 0');
  return list.slice(start, end).filter((_, index) => index % step === 0);
}

/** Returns the items of a list, or the values of an object in key order. */
function children(value: Json): readonly Json[] {
  if (typeof value !== 'object' || value === null) return [];
  if (isJsonList(value)) return value;
  return Object.entries(value)
    .sort(byKey)
    .map(([, item]) => item);
}

/** Returns a value and all its descendants that have children. */
function descend(value: Json): readonly Json[] {
  const below = children(value);
  return below.length === 0 ? [] : [value, ...below.flatMap(descend)];
}

function filtered(value: Json, filter: Filter): readonly Json[] {
  if (typeof value === 'object' && value !== null && isJsonList(value))
    return value.filter((item) => passes(item, filter));
  throw new TemplateError(`${jsonPathText(value)} is not array or slice and cannot be filtered`);
}

function passes(item: Json, {left, operator, right}: Filter): boolean {
  const lefts = follow(left, [item]);
  if (operator === undefined) return lefts.length > 0;
  const rights = follow(right, [item]);
  if (lefts.length > 1 || rights.length > 1)
    throw new TemplateError('can only compare one element at a time');
  const [[a], [b]] = [lefts, rights];
  return a !== undefined && b !== undefined && compares(a, operator, b);
}

function compares(a: Json, operator: string, b: Json): boolean {
  if (!areComparable(a, b)) throw new TemplateError('incompatible types for comparison');
  switch (operator) {
    case '==':
      return isSame(a, b);
    case '!=':
      return !isSame(a, b);
    default:
      return isOrdered(a as number, operator, b as number);
  }
}

function areComparable(a: Json, b: Json): boolean {
  if (typeof a === 'object' || typeof b === 'object') return false;
  return isNumber(a) ? isNumber(b) : typeof a === typeof b;
}

function isNumber(value: Json): boolean {
  return typeof value === 'number' || typeof value === 'bigint';
}

function isSame(a: Json, b: Json): boolean {
  return isNumber(a) ? !((a as number) < (b as number) || (a as number) > (b as number)) : a === b;
}

function isOrdered(a: number, operator: string, b: number): boolean {
  if (typeof a === 'boolean') throw new TemplateError('invalid type for comparison');
  if (operator === '<') return a < b;
  if (operator === '<=') return a <= b;
  return operator === '>' ? a > b : a >= b;
}
