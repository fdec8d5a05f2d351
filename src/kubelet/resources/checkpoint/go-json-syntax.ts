/** Returns Go's error for text that is not JSON, such as that of a torn file (encoding/json scanner). */
export function describeJsonProblem(text: string): string {
  try {
    const end = skipSpace(text, scanValue(text, skipSpace(text, 0)));
    if (end < text.length) throw invalid(text, end, 'after top-level value');
  } catch (problem) {
    if (problem instanceof JsonProblem) return problem.message;
    throw problem;
  }
  return END;
}

class JsonProblem extends Error {}

const END = 'unexpected end of JSON input';
const LITERALS: Readonly<Record<string, string>> = {t: 'true', f: 'false', n: 'null'};
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

function invalid(text: string, at: number, where: string): JsonProblem {
  const character = text[at];
  if (character === undefined) return new JsonProblem(END);
  const shown = character === "'" ? String.raw`\'` : character;
  return new JsonProblem(`invalid character '${shown}' ${where}`);
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (' \t\r\n'.includes(text[at] ?? '-')) at += 1;
  return at;
}

/** Returns the position after the value. Throws JsonProblem. */
function scanValue(text: string, at: number): number {
  const first = text[at] ?? '';
  if (first === '{')
    return scanItems(text, at, {close: '}', scanItem: scanMember, after: 'after object key:value pair'});
  if (first === '[')
    return scanItems(text, at, {close: ']', scanItem: scanValue, after: 'after array element'});
  if (first === '"') return scanString(text, at);
  const literal = LITERALS[first];
  if (literal !== undefined) return scanLiteral(text, at, literal);
  NUMBER.lastIndex = at;
  if (NUMBER.test(text)) return NUMBER.lastIndex;
  if (first === '-') throw invalid(text, at + 1, 'in numeric literal');
  throw invalid(text, at, 'looking for beginning of value');
}

interface Items {
  readonly close: string;
  readonly scanItem: (text: string, at: number) => number;
  readonly after: string;
}

function scanItems(text: string, from: number, {close, scanItem, after}: Items): number {
  let at = skipSpace(text, from + 1);
  if (text[at] === close) return at + 1;
  for (;;) {
    at = skipSpace(text, scanItem(text, at));
    if (text[at] === close) return at + 1;
    if (text[at] !== ',') throw invalid(text, at, after);
    at = skipSpace(text, at + 1);
  }
}

function scanMember(text: string, at: number): number {
  if (text[at] !== '"') throw invalid(text, at, 'looking for beginning of object key string');
  const colon = skipSpace(text, scanString(text, at));
  if (text[colon] !== ':') throw invalid(text, colon, 'after object key');
  return scanValue(text, skipSpace(text, colon + 1));
}

function scanString(text: string, at: number): number {
  STRING.lastIndex = at;
  STRING.test(text);
  const end = STRING.lastIndex;
  if (text[end] === '"') return end + 1;
  if (text[end] === '\\') throw invalid(text, end + 1, 'in string escape code');
  throw invalid(text, end, 'in string literal');
}

function scanLiteral(text: string, at: number, literal: string): number {
  for (let index = 1; index < literal.length; index += 1)
    if (text[at + index] !== literal[index])
      throw invalid(text, at + index, `in literal ${literal} (expecting '${literal[index] ?? ''}')`);
  return at + literal.length;
}
