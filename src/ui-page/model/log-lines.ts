/** Maximum number of lines of a log that are kept; the oldest are dropped. */
export const MAX_LINES = 5000;

/** Lines of a log. */
export interface LogText {
  /** Complete lines, oldest first. */
  readonly lines: readonly string[];
  /** Number of lines that were dropped. */
  readonly dropped: number;
  /** Start of a line whose rest has not arrived. */
  readonly rest: string;
}

export const EMPTY_LOG: LogText = {lines: [], dropped: 0, rest: ''};

/** Maximum length of a line, in UTF-16 units; longer ones are split. */
const MAX_LENGTH = 20_000;

/** Returns the log with more text at the end. */
export function appendText({lines, dropped, rest}: LogText, text: string): LogText {
  const parts = `${rest}${text}`.split('\n').flatMap(splitLong);
  const last = parts.pop() ?? '';
  const all = [...lines, ...parts];
  const excess = Math.max(all.length - MAX_LINES, 0);
  return {lines: excess === 0 ? all : all.slice(excess), dropped: dropped + excess, rest: last};
}

function splitLong(line: string): readonly string[] {
  if (line.length <= MAX_LENGTH) return [line];
  return Array.from({length: Math.ceil(line.length / MAX_LENGTH)}, (_, index) =>
    line.slice(index * MAX_LENGTH, (index + 1) * MAX_LENGTH),
  );
}

/** Part of a line: what was searched for, or what is between. */
export interface LinePart {
  readonly text: string;
  readonly isMatch: boolean;
}

/** Splits a line at a searched text, in any case; undefined if it does not contain it. */
export function findInLine(line: string, search: string): readonly LinePart[] | undefined {
  const [lowerLine, lowerSearch] = [line.toLowerCase(), search.toLowerCase()];
  // Lower case of some letters has another length; then positions would be wrong.
  const isExact = lowerLine.length === line.length;
  const parts: LinePart[] = [];
  let from = 0;
  for (;;) {
    const at = lowerLine.indexOf(lowerSearch, from);
    if (at < 0) break;
    if (!isExact) return [{text: line, isMatch: true}];
    if (at > from) parts.push({text: line.slice(from, at), isMatch: false});
    parts.push({text: line.slice(at, at + search.length), isMatch: true});
    from = at + search.length;
  }
  if (parts.length === 0) return undefined;
  return from < line.length ? [...parts, {text: line.slice(from), isMatch: false}] : parts;
}
