/** A part of a text that is parsed on its own. */
export interface TextPart {
  readonly start: number;
  readonly end: number;
}

/** Parts of a text, and where and why the rest of it is not JSON. */
export interface JsonStream {
  readonly parts: readonly TextPart[];
  readonly problem?: {readonly offset: number; readonly message: string};
}

const SPACE = /[\s\uFEFF]*/y;

function afterSpace(text: string, offset: number): number {
  SPACE.lastIndex = offset;
  SPACE.exec(text);
  return SPACE.lastIndex;
}

/** Returns the offset after the string that starts at a quotation mark; undefined if it does not end. */
function endOfString(text: string, start: number): number | undefined {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text[end - 1 - escapes] === '\\') escapes += 1;
    if (escapes % 2 === 0) return end + 1;
  }
  return undefined;
}

/** Returns the offset after the braces that open at an offset; undefined if they do not close. */
function endOfBraces(text: string, start: number): number | undefined {
  const next = /["{}]/g;
  next.lastIndex = start;
  let depth = 0;
  for (let match = next.exec(text); match !== null; match = next.exec(text)) {
    if (match[0] === '"') {
      const end = endOfString(text, match.index);
      if (end === undefined) return undefined;
      next.lastIndex = end;
    } else {
      depth += match[0] === '{' ? 1 : -1;
      if (depth === 0) return next.lastIndex;
    }
  }
  return undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

function problemAt(text: string, offset: number): NonNullable<JsonStream['problem']> {
  const character = String.fromCodePoint(text.codePointAt(offset) ?? 0);
  const message =
    character === '{'
      ? 'invalid JSON object after other JSON objects'
      : `invalid character '${character}' after JSON objects: put "---" between all documents, or nothing but JSON objects`;
  return {offset, message};
}

/**
 * Splits a text that starts with several JSON objects, as `jq -c` and `kubectl get -o json` write one after the other.
 * As in kubectl (YAMLOrJSONDecoder), YAML may follow a single object; after more of them only JSON may follow. Any other
 * text is one part.
 */
export function splitJsonStream(text: string): JsonStream {
  const whole = {parts: [{start: 0, end: text.length}]};
  const first = afterSpace(text, 0);
  if (text[first] !== '{') return whole;
  const parts: TextPart[] = [];
  let next = first;
  while (text[next] === '{') {
    const end = endOfBraces(text, next);
    if (end === undefined) break;
    const after = afterSpace(text, end);
    if (parts.length === 0 && after === text.length) return whole;
    if (!isJson(text.slice(next, end))) break;
    parts.push({start: next, end});
    next = after;
  }
  if (next === text.length) return {parts};
  const [only, second] = parts;
  if (only === undefined) return whole;
  if (second !== undefined) return {parts, problem: problemAt(text, next)};
  // YAML keeps the indentation of its first line.
  const lineBreak = text.slice(only.end, next).indexOf('\n');
  return {parts: [only, {start: lineBreak < 0 ? next : only.end + lineBreak + 1, end: text.length}]};
}
