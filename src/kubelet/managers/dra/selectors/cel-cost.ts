import {EvaluationError, type ASTNode, type Environment} from '@marcbachmann/cel-js';
import {isObject} from '../../../../base/is-object.js';

/** Most work of one evaluation, in CEL's units of cost (CELSelectorExpressionMaxCost). */
const MOST_COST = 1_000_000;

/** Name of the macro through which the library hands out its evaluator. */
const EVALUATOR = '__evaluator';

/** A node of an expression as the library evaluates it; its types do not describe that. */
interface Node {
  readonly op: string;
  readonly args: unknown;
  readonly meta: {readonly alternate?: Node};
  /** Applies an operator, a function or a comprehension to its operands. */
  handle?: (...operands: readonly unknown[]) => unknown;
  evaluate(evaluator: Evaluator, node: Node, context: unknown): unknown;
}

interface Evaluator {
  run(node: Node, context: unknown): unknown;
}

/** Reports that an evaluation costs too much. */
export class CostLimitError extends EvaluationError {
  constructor() {
    super(`operation cancelled: actual cost limit exceeded (${MOST_COST})`);
  }
}

/** Limits the work of an evaluation. */
export interface CostLimit {
  /** Evaluates an expression. Throws CostLimitError if that costs more than MOST_COST. */
  evaluate<T>(ast: ASTNode, work: () => T): T;
  /** Adds to the cost of the evaluation. Throws CostLimitError if that is too much. */
  readonly spend: (units: number) => void;
}

/**
 * Counts what the evaluations of an environment cost, as CEL does: one for each part of an expression, and for functions and operators
 * what they read and make. The library has no such limit, but all that it evaluates passes one function of its evaluator.
 */
export function limitCost(environment: Environment): CostLimit {
  const evaluator = findEvaluator(environment);
  const metered = new WeakSet<Node>();
  const sizes = new Sizes();
  let cost = 0;
  const spend = (units: number): void => {
    cost += units;
    if (cost > MOST_COST) throw new CostLimitError();
  };
  const meter = (node: Node): void => {
    if (metered.has(node)) return;
    metered.add(node);
    const target = node.meta.alternate ?? node;
    const {handle} = target;
    const price = priceOf(target, sizes);
    if (handle === undefined || price === undefined) return;
    target.handle = (...operands) => {
      spend(price(operands));
      const value = handle(...operands);
      spend(lengthOf(value));
      return value;
    };
  };
  evaluator.run = (node, context) => {
    spend(1);
    meter(node);
    return node.evaluate(evaluator, node, context);
  };
  return {
    spend,
    evaluate: (ast, work) => {
      // The library does not evaluate the outermost part of an expression with its evaluator's function.
      meter(ast as unknown as Node);
      cost = 1;
      // The library may ignore the error: `failed || true` is true.
      const check = (): void => {
        if (cost > MOST_COST) throw new CostLimitError();
      };
      try {
        const value = work();
        check();
        return value;
      } catch (error) {
        check();
        throw error;
      }
    },
  };
}

/** Returns the evaluator of an environment, which only a macro can see. */
function findEvaluator(environment: Environment): Evaluator {
  let found: Evaluator | undefined;
  environment.registerFunction(`${EVALUATOR}(ast): bool`, () => ({
    typeCheck: (checker: {getType(name: string): unknown}) => checker.getType('bool'),
    evaluate: (evaluator: Evaluator) => {
      found = evaluator;
      return true;
    },
  }));
  environment.evaluate(`${EVALUATOR}(true)`);
  if (found === undefined) throw new Error('the library has no evaluator');
  return found;
}

/** Returns the cost of applying something to its operands. */
type Price = (operands: readonly unknown[]) => number;

const COMPARISONS = new Set(['==', '!=', '+', '<', '<=', '>', '>=']);

/** Returns what a part of an expression costs before its result is known, beside the one of each part. */
function priceOf({op, args}: Node, sizes: Sizes): Price | undefined {
  if (COMPARISONS.has(op)) return ([left, right]) => sizes.of(left) + sizes.of(right);
  if (op === 'in') return ([left, right]) => sizes.of(left) + (Array.isArray(right) ? sizes.of(right) : 1);
  if (op === 'comprehension') return ([items]) => lengthOf(items);
  if (op !== 'call' && op !== 'rcall') return undefined;
  const [name] = args as readonly [string];
  return ([operands]) => callPrice(name, operands as readonly unknown[], sizes);
}

/** Costs of functions that do more than read their operands once, of the sizes of the operands. */
const PRICES: Readonly<Record<string, (sizes: readonly number[]) => number>> = {
  contains: product,
  indexOf: product,
  lastIndexOf: product,
  distinct: ([list = 0]) => list * list,
  sort: ([list = 0]) => list * Math.ceil(Math.log2(list + 1)),
  intersects: ([, ...lists]) => product(lists),
  equivalent: ([, ...lists]) => product(lists),
  split: ([text = 0]) => text * CHARACTERS,
  replace: ([text = 0, from = 0, to = 0]) => text * (1 + from + to * CHARACTERS),
  join: product,
  duration: ([text = 0]) => text ** 3,
};

function product(sizes: readonly number[]): number {
  return sizes.reduce((all, size) => all * (1 + size), 1);
}

/** Cost of a field of a timestamp in a time zone. */
const TIME_ZONE_COST = 1000;

function callPrice(name: string, operands: readonly unknown[], sizes: Sizes): number {
  if (name === 'size' && operands.every((one) => typeof one !== 'string')) return 1;
  if (operands[0] instanceof Date && operands.length > 1) return TIME_ZONE_COST;
  const each = operands.map((one) => sizes.of(one));
  return PRICES[name]?.(each) ?? each.reduce((sum, size) => sum + size, 0);
}

/** Characters for one unit of cost (StringTraversalCostFactor). */
const CHARACTERS = 10;

/** Returns the cost of reading a string, or of the items of a list or map without what they consist of. */
function lengthOf(value: unknown): number {
  if (typeof value === 'string') return Math.ceil(value.length / CHARACTERS);
  if (Array.isArray(value)) return value.length;
  if (value instanceof Map) return value.size;
  return isPlain(value) ? Object.keys(value).length : 0;
}

function isPlain(value: unknown): value is object {
  return isObject(value) && value.constructor === Object;
}

/** Costs of reading values with all that they consist of, which may be one value many times. */
class Sizes {
  readonly #known = new WeakMap<object, number>();

  of(value: unknown): number {
    if (typeof value !== 'object' || value === null) return Math.max(1, lengthOf(value));
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    const size = this.#items(value).reduce<number>((sum, item) => sum + this.of(item), 1);
    this.#known.set(value, size);
    return size;
  }

  #items(value: object): readonly unknown[] {
    if (Array.isArray(value)) return value;
    if (value instanceof Map) return [...value.entries()];
    if (value instanceof Uint8Array) return [''.padEnd(value.length)];
    return isPlain(value) ? Object.entries(value) : [];
  }
}
