import {EvaluationError, type ASTNode, type Environment} from '@marcbachmann/cel-js';
import {OWN_NAMES} from './cel-own-functions.js';

/** What the library hands to a macro; its types do not describe it. */
interface MacroCall {
  readonly args: readonly ASTNode[];
}

interface Checker {
  check(node: ASTNode, context: unknown): unknown;
  getType(name: string): unknown;
}

interface Evaluator {
  run(node: ASTNode, context: unknown): unknown;
}

/** Registers the presence test of a field or a key. The library's own takes no index: `has(device.attributes["x"].y)`. */
export function registerPresenceTest(environment: Environment): void {
  environment.registerFunction(`${OWN_NAMES.has}(ast): bool`, ({args: [node]}: MacroCall) => {
    if (node?.op !== '.') throw new EvaluationError('invalid argument to has() macro');
    const [operand, name] = node.args;
    return {
      typeCheck: (checker: Checker, _macro: unknown, context: unknown) => {
        checker.check(operand, context);
        return checker.getType('bool');
      },
      evaluate: (evaluator: Evaluator, _macro: unknown, context: unknown) =>
        isPresent(evaluator.run(operand, context), name),
    };
  });
}

function isPresent(value: unknown, name: string): boolean {
  if (value instanceof Map) return value.get(name) !== undefined;
  if (typeof value !== 'object' || value === null) throw new EvaluationError(`no such key: ${name}`);
  return Object.hasOwn(value, name);
}
