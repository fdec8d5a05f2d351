/** An error of the YAML parser. */
export interface ParserError {
  readonly code: string;
  readonly pos: readonly [start: number, end: number];
  readonly message: string;
}

/** A place in a text, and what is wrong there. */
interface Located {
  readonly offset: number;
  readonly message: string;
}

/** Texts for messages of the parser that are not about indentation; none quotes the text, which may be secret. */
const TEXTS: readonly (readonly [RegExp, string])[] = [
  [/^Flow sequence in block collection/, 'a list in brackets is not closed by ] or not indented'],
  [/^Flow map in block collection/, 'a map in braces is not closed by } or not indented'],
  [/^Missing closing ["']quote/, 'a text in quotes is not closed'],
  [/^Implicit map keys need to be followed/, 'a key must be followed by a colon and a value'],
  [/^Plain value cannot start with reserved character (.)/, 'a value that starts with $1 must be in quotes'],
  [/^Nested mappings are not allowed/, 'a value that contains a colon and a space must be in quotes'],
  [/^Tabs are not allowed as indentation/, 'a line is indented by a tab; use spaces'],
];

/** Messages whose cause is the indentation of the line at their end. */
const INDENTATION =
  /^(Sequence item without|All (mapping|collection) items must start|A block sequence may not be used|Implicit keys need to be on a single line)/;

/** Explains the first error; the others are usually its consequences. */
export function explainSyntax(text: string, errors: readonly [ParserError, ...ParserError[]]): Located {
  const [error] = errors;
  const spanning = errors.find(({code, pos}) => code === 'MULTILINE_IMPLICIT_KEY' && pos[0] === error.pos[0]);
  const {pos} = spanning ?? error;
  const last = contentFrom(text, spanning === undefined ? pos[0] : Math.max(pos[0], pos[1] - 1));
  if (spanning !== undefined || INDENTATION.test(error.message)) {
    const message = explainIndentation(text, last);
    if (message !== undefined) return {offset: lineStart(text, last) + indentOf(lineAt(text, last)), message};
  }
  const [offset] = error.pos;
  const plain = TEXTS.find(([pattern]) => pattern.test(error.message));
  const message = plain === undefined ? error.message : error.message.replace(/^.*$/s, replace(plain, error));
  return {offset, message: lowerFirst(message)};
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function replace([pattern, plain]: readonly [RegExp, string], {message}: ParserError): string {
  return plain.replace('$1', pattern.exec(message)?.[1] ?? '');
}

/** Column at which the keys or items of an open block start. */
interface Level {
  readonly column: number;
  /** True for the items of a list, which start with a dash. */
  readonly isList: boolean;
}

/** Compares the indentation of the line at an offset with the blocks above it; undefined if it fits one of them. */
function explainIndentation(text: string, offset: number): string | undefined {
  const start = lineStart(text, offset);
  const line = lineAt(text, offset);
  const indent = indentOf(line);
  const lines = text.slice(0, start).split('\n');
  const above = lines.filter(hasContent);
  const levels = levelsOf(above);
  const own = levels.find(({column}) => column === indent);
  const title = `line ${lines.length} is indented by ${count(indent)}`;
  if (own !== undefined)
    return own.isList && !/^\s*-(\s|$)/.test(line)
      ? `${title} like the items above, but does not start with a dash`
      : undefined;
  const deeper = levels.findLast(({column}) => column > indent) ?? levels[0];
  if (deeper === undefined) return undefined;
  const isItem = /^\s*-\s/.test(above.at(-1) ?? '') || deeper.isList;
  return `${title}; the ${isItem ? 'item' : 'line'} above uses ${deeper.column}`;
}

/** Returns the open blocks at the end of lines, the innermost first. */
function levelsOf(lines: readonly string[]): readonly Level[] {
  let open: readonly Level[] = [];
  for (const line of lines) {
    const indent = indentOf(line);
    const [, dash = ''] = /^\s*(-\s+)/.exec(line) ?? [];
    const outer = open.filter(({column}) => column < indent);
    const item: readonly Level[] = dash === '' ? [] : [{column: indent, isList: true}];
    open = [{column: indent + dash.length, isList: false}, ...item, ...outer];
  }
  return open;
}

/** Returns the offset, or the start of the next line with content if its line is empty or a comment. */
function contentFrom(text: string, offset: number): number {
  let found = offset;
  while (found < text.length && !hasContent(lineAt(text, found))) {
    const end = text.indexOf('\n', found);
    if (end < 0) return offset;
    found = end + 1;
  }
  return found;
}

function hasContent(line: string): boolean {
  return /^\s*[^\s#]/.test(line);
}

function count(spaces: number): string {
  return spaces === 1 ? '1 space' : `${spaces} spaces`;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

function lineAt(text: string, offset: number): string {
  const end = text.indexOf('\n', offset);
  return text.slice(lineStart(text, offset), end < 0 ? undefined : end);
}
