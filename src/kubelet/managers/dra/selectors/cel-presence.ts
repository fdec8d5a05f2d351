import {EvaluationError, type ASTNode, type Environment} from '@marcbachmann/cel-js';

/** Name under which `has` is known to the library, whose own one takes no index: `has(device.attributes["x"].y)`. */
const PRESENCE = '__has';

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

/** Registers the presence test of a field or a key. */
export function registerPresenceTest(environment: Environment): void {
  environment.registerFunction(`${PRESENCE}(ast): bool`, ({args: [node]}: MacroCall) => {
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

/** Strings, comments and identifiers of an expression; a dot before an identifier makes it a method. */
const TOKENS =
  /[rRbB]{0,2}(?:"""[^]*?"""|'''[^]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|\/\/[^\n]*|\.?\s*[A-Za-z_][A-Za-z0-9_]*/g;

/** Returns an expression with the own presence test in place of the library's. */
export function withPresenceTest(expression: string): string {
  return expression.replaceAll(TOKENS, (token, offset: number) =>
    token === 'has' && /^\s*\(/.test(expression.slice(offset + token.length)) ? PRESENCE : token,
  );
}
