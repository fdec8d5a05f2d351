import {EvaluationError, type Environment} from '@marcbachmann/cel-js';
import {CelQuantity, compareAmounts} from './cel-quantity.js';
import {compareSemver, Semver} from './cel-semver.js';

/** What `sets` and `lists` are in an expression. */
class SetFunctions {
  readonly name = 'sets';
}

class ListFunctions {
  readonly name = 'lists';
}

/** Most elements of a list that an expression makes from a number. */
const MOST_ELEMENTS = 1000;

/** Registers the functions of lists and sets (library.Lists, ext.Sets, ext.Lists). */
export function registerCollections(environment: Environment): void {
  environment
    .registerFunction('list.isSorted(): bool', (list: readonly unknown[]) =>
      list.every((item, index) => index === 0 || compareValues(list[index - 1], item) <= 0n),
    )
    .registerFunction('list.sum(): dyn', sum)
    .registerFunction('list.min(): dyn', (list: readonly unknown[]) => extreme(list, -1n))
    .registerFunction('list.max(): dyn', (list: readonly unknown[]) => extreme(list, 1n))
    .registerFunction('list.indexOf(dyn): int', (list: readonly unknown[], item: unknown) =>
      BigInt(list.findIndex((other) => equals(other, item))),
    )
    .registerFunction('list.lastIndexOf(dyn): int', (list: readonly unknown[], item: unknown) =>
      BigInt(list.findLastIndex((other) => equals(other, item))),
    )
    .registerFunction('list.slice(int, int): list', (list: readonly unknown[], from: bigint, to: bigint) => {
      if (from < 0n || to < from || to > BigInt(list.length))
        throw new EvaluationError(`cannot slice(${from}, ${to}), the list has ${list.length} elements`);
      return list.slice(Number(from), Number(to));
    })
    .registerFunction('list.reverse(): list', (list: readonly unknown[]) => list.toReversed())
    .registerFunction('list.distinct(): list', (list: readonly unknown[]) =>
      list.filter((item, index) => list.findIndex((other) => equals(other, item)) === index),
    )
    .registerFunction('list.sort(): list', (list: readonly unknown[]) =>
      list.toSorted((a, b) => Number(compareValues(a, b))),
    )
    .registerFunction('list.flatten(): list', (list: readonly unknown[]) => list.flat())
    .registerType('ListFunctions', {ctor: ListFunctions, fields: {}})
    .registerConstant('lists', 'ListFunctions', new ListFunctions())
    .registerFunction('ListFunctions.range(int): list<int>', (_: unknown, count: bigint) => {
      if (count > MOST_ELEMENTS) throw new EvaluationError(`lists.range(${count}) has too many elements`);
      return Array.from({length: Math.max(0, Number(count))}, (_item, index) => BigInt(index));
    });
  registerSets(environment);
}

type List = readonly unknown[];

function registerSets(environment: Environment): void {
  const includes = (list: List, item: unknown): boolean => list.some((other) => equals(other, item));
  const contains = (list: List, items: List): boolean => items.every((item) => includes(list, item));
  environment
    .registerType('SetFunctions', {ctor: SetFunctions, fields: {}})
    .registerConstant('sets', 'SetFunctions', new SetFunctions())
    .registerFunction('SetFunctions.contains(list, list): bool', (_: unknown, a: List, b: List) =>
      contains(a, b),
    )
    .registerFunction(
      'SetFunctions.equivalent(list, list): bool',
      (_: unknown, a: List, b: List) => contains(a, b) && contains(b, a),
    )
    .registerFunction('SetFunctions.intersects(list, list): bool', (_: unknown, a: List, b: List) =>
      b.some((item) => includes(a, item)),
    );
}

function sum(list: List): unknown {
  if (list.every((item) => typeof item === 'bigint')) return list.reduce((a, b) => a + b, 0n);
  if (list.every((item) => typeof item === 'number')) return list.reduce((a, b) => a + b, 0);
  throw new EvaluationError('sum() needs a list of numbers of one type');
}

/** Returns the smallest element (sign −1), or the largest. */
function extreme(list: List, sign: bigint): unknown {
  if (list.length === 0) throw new EvaluationError(`${sign < 0n ? 'min' : 'max'} called on empty list`);
  return list.reduce((best, item) => (compareValues(item, best) * sign > 0n ? item : best));
}

function equals(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => equals(item, b[index]));
  if (a instanceof CelQuantity && b instanceof CelQuantity) return a.nanos === b.nanos;
  if (a instanceof Semver && b instanceof Semver) return compareSemver(a, b) === 0n;
  return a === b;
}

/** Compares two values of one type: negative, zero or positive. */
function compareValues(a: unknown, b: unknown): bigint {
  if (a instanceof CelQuantity && b instanceof CelQuantity) return compareAmounts(a, b);
  if (a instanceof Semver && b instanceof Semver) return compareSemver(a, b);
  const isComparable = typeof a === typeof b && ['string', 'bigint', 'number', 'boolean'].includes(typeof a);
  if (!isComparable) throw new EvaluationError('the elements of the list cannot be compared');
  const [left, right] = [a as string, b as string];
  return left < right ? -1n : BigInt(Number(left > right));
}
