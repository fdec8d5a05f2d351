import {GoNumber, kindOf, typeName, valueText, type Value} from './values.js';

/** Go's reason for not comparing. */
interface Fault {
  readonly fault: string;
}

type Basic = 'none' | 'bool' | 'integer' | 'float' | 'string' | 'composite';

/** Values of one of these compare with each other; a json.Number is text to Go. */
function basicKind(value: Value): Basic {
  switch (kindOf(value)) {
    case 'none':
      return 'none';
    case 'bool':
      return 'bool';
    case 'int':
    case 'uint':
      return 'integer';
    case 'float':
      return 'float';
    case 'string':
    case 'number':
      return 'string';
    default:
      return 'composite';
  }
}

/** Whether two values are the same, or why Go can't tell. */
export function equal(a: Value, b: Value): boolean | Fault {
  const [kind, other] = [basicKind(a), basicKind(b)];
  if (kind === 'none' || other === 'none') return kind === other;
  if (kind !== other) return incompatible(a, b);
  if (kind !== 'composite') return rank(a) === rank(b);
  return kindOf(a) === kindOf(b)
    ? {fault: `non-comparable type ${valueText(b)}: ${typeName(b)}`}
    : {fault: `non-comparable types ${valueText(a)}: ${typeName(a)}, ${typeName(b)}: ${valueText(b)}`};
}

/** Below 0, 0 or above 0 as the first is less, equal or more; or why Go can't tell. */
export function compare(a: Value, b: Value): number | Fault {
  const [kind, other] = [basicKind(a), basicKind(b)];
  const ordered = (basic: Basic): boolean => basic !== 'none' && basic !== 'composite';
  if (!ordered(kind) || !ordered(other)) return {fault: 'invalid type for comparison'};
  if (kind !== other) return incompatible(a, b);
  if (kind === 'bool') return {fault: 'invalid type for comparison'};
  const [left, right] = [rank(a), rank(b)];
  return left === right ? 0 : left < right ? -1 : 1;
}

function incompatible(a: Value, b: Value): Fault {
  return {fault: `incompatible types for comparison: ${typeName(a)} and ${typeName(b)}`};
}

/** What `<` and `===` of JavaScript order as Go does: numbers by size, text by its bytes. */
function rank(value: Value): string | number | bigint | boolean {
  if (value instanceof GoNumber) return value.type === 'float64' ? value.value : BigInt(value.value);
  return typeof value === 'boolean' ? value : valueText(value);
}
