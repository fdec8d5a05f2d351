import {GoNumber, kindOf, typeName, valueText, type Value} from './values.js';

/** Go's reason why values are not comparable. */
interface Fault {
  readonly fault: string;
}

type Basic = 'none' | 'bool' | 'integer' | 'float' | 'string' | 'composite';

/** Basic kinds; values of one kind are comparable. A json.Number is a string in Go. */
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

/** Reports whether two values are equal, or returns why Go cannot compare them. */
export function equal(a: Value, b: Value): boolean | Fault {
  const [kind, other] = [basicKind(a), basicKind(b)];
  if (kind === 'none' || other === 'none') return kind === other;
  if (kind !== other) return incompatible(a, b);
  if (kind !== 'composite') return rank(a) === rank(b);
  return kindOf(a) === kindOf(b)
    ? {fault: `non-comparable type ${valueText(b)}: ${typeName(b)}`}
    : {fault: `non-comparable types ${valueText(a)}: ${typeName(a)}, ${typeName(b)}: ${valueText(b)}`};
}

/** Compares two values: negative, 0 or positive; or returns why Go cannot compare them. */
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

/** Returns a value that JavaScript's `<` and `===` order as Go does: numbers by size, text by its bytes. */
function rank(value: Value): string | number | bigint | boolean {
  if (value instanceof GoNumber) return value.type === 'float64' ? value.value : BigInt(value.value);
  return typeof value === 'boolean' ? value : valueText(value);
}
