import {EvaluationError, type Environment} from '@marcbachmann/cel-js';
import {RE2JS, RE2JSException} from 're2js';
import {OWN_NAMES} from './cel-own-functions.js';

/** Instructions of a compiled pattern that are tried on a character for one unit of cost. */
const INSTRUCTIONS_PER_UNIT = 4;

/**
 * Registers functions of regular expressions, which are RE2's: a match takes time linear in the length of the text. Compiling and matching
 * cost what `spend` is called with; it throws if that is too much.
 */
export function registerRegexps(environment: Environment, spend: (cost: number) => void): void {
  const compile = (pattern: string): RE2JS => {
    spend(pattern.length * repetitionsIn(pattern));
    return compileRe2(pattern);
  };
  const spendMatch = (text: string, compiled: RE2JS): void => {
    spend(Math.ceil(((text.length + 1) * compiled.programSize()) / INSTRUCTIONS_PER_UNIT));
  };
  const find = (text: string, pattern: string, limit: number): readonly string[] => {
    const compiled = compile(pattern);
    const matcher = compiled.matcher(text);
    const found: string[] = [];
    while (found.length < limit) {
      spendMatch(text, compiled);
      if (!matcher.find()) break;
      found.push(matcher.group() ?? '');
    }
    return found;
  };
  environment
    .registerFunction(`string.${OWN_NAMES.matches}(string): bool`, (text: string, pattern: string) => {
      const compiled = compile(pattern);
      spendMatch(text, compiled);
      return compiled.test(text);
    })
    .registerFunction(
      'string.find(string): string',
      (text: string, pattern: string) => find(text, pattern, 1)[0] ?? '',
    )
    .registerFunction('string.findAll(string): list<string>', (text: string, pattern: string) =>
      find(text, pattern, Infinity),
    )
    .registerFunction(
      'string.findAll(string, int): list<string>',
      (text: string, pattern: string, limit: bigint) =>
        find(text, pattern, limit < 0n ? Infinity : Number(limit)),
    );
}

/** Most repetitions of a part of a pattern, also of nested ones together. */
const MOST_REPETITIONS = 1000;

/** Returns how often a part of a pattern is repeated in the compiled one, at most. */
function repetitionsIn(pattern: string): number {
  let repetitions = 1;
  for (const [, least = '', most = ''] of pattern.matchAll(/\{(\d+),?(\d*)\}/g))
    repetitions *= Math.max(1, Number(least), Number(most));
  return Math.min(repetitions, MOST_REPETITIONS);
}

function compileRe2(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (cause) {
    if (!(cause instanceof RE2JSException)) throw cause;
    throw new EvaluationError(`invalid regular expression ${JSON.stringify(pattern)}`, undefined, cause);
  }
}
