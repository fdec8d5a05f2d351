/** Words that YAML 1.1 reads as a boolean, null or NaN. */
const RESERVED_WORDS =
  /^(?:[yYnN]|yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF|~|null|Null|NULL|\.nan|\.NaN|\.NAN|[-+]?\.(?:inf|Inf|INF)|)$/;
const INTEGER = /^[-+]?(?:0[xX][\da-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|0|[1-9]\d*)$/;
const FLOAT = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/;
const BASE_60 = /^[-+]?\d[\d_]*(?::[0-5]?\d)+(?:\.[\d_]*)?$/;
const TIMESTAMP =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:(?:[Tt](\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.\d+)?(?:Z|[-+]\d\d:\d\d))|(?: (\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.\d+)?))?$/;

/** Position of a scalar in the document. */
export interface ScalarPosition {
  /** Indentation of the scalar's continuation lines. */
  readonly indent: string;
  /** Number of characters before the scalar on its line; undefined if it must stay on one line. */
  readonly column?: number;
}

/** Line width from which a line is folded at the next space. */
const LINE_WIDTH = 80;

/**
 * Formats a text as a YAML scalar in the style that Go's yaml.v2 chooses: plain, single-quoted, double-quoted, or
 * literal block.
 */
export function formatYamlScalar(text: string, position: ScalarPosition): string {
  if (!isShown(text)) return doubleQuoted(text, position);
  if (text.includes('\n'))
    return fitsBlock(text) ? literal(text, position.indent) : doubleQuoted(text, position);
  if (readsAsOther(text)) return doubleQuoted(text, position);
  return isPlain(text) ? folded(text, position) : folded(`'${text.replaceAll("'", "''")}'`, position);
}

/**
 * Folds a long text over several lines, which a parser joins: at single spaces, and in double quotes at the first of
 * several, where a backslash preserves the others.
 */
function folded(text: string, {indent, column: start}: ScalarPosition): string {
  if (start === undefined) return text;
  const keepsBlanks = text.startsWith('"');
  let column = start;
  return text.replace(/ +|[^ ]+/g, (run, at: number) => {
    const inside = at > 1 && at + run.length < text.length - 1;
    const breaks = run.startsWith(' ') && column > LINE_WIDTH && inside && (run === ' ' || keepsBlanks);
    const continuation = breaks ? `${run === ' ' ? '' : '\\'}${run.slice(1)}` : run;
    column = (breaks ? indent.length : column) + Array.from(continuation).length;
    return breaks ? `\n${indent}${continuation}` : run;
  });
}

/** Reports whether YAML 1.1 would read the plain text as another type. */
function readsAsOther(text: string): boolean {
  if (RESERVED_WORDS.test(text) || BASE_60.test(text)) return true;
  const plain = text.replaceAll('_', '');
  const number = /^[-+.\d]/.test(text) && (INTEGER.test(plain) || FLOAT.test(plain));
  return (number && Number.isFinite(Number(plain.replace(/^[-+]/, '')) || 0)) || isTimestamp(text);
}

function isTimestamp(text: string): boolean {
  const [year, month, day, ...time] = (TIMESTAMP.exec(text) ?? [])
    .slice(1)
    .filter((part: string | undefined) => part !== undefined)
    .map(Number);
  if (year === undefined || month === undefined || day === undefined) return false;
  const [hour = 0, minute = 0, second = 0] = time;
  return isDate(year, month, day) && hour < 24 && minute < 60 && second < 60;
}

function isDate(year: number, month: number, day: number): boolean {
  const days = new Date(Date.UTC(year, month, 0)).getUTCDate();
  return month >= 1 && month <= 12 && day >= 1 && day <= days;
}

/**
 * Pattern of characters that require double quotes: non-printable ones and those outside the Basic Multilingual Plane.
 */
const UNSHOWN = /[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/;

function isShown(text: string): boolean {
  return !UNSHOWN.test(text);
}

/** Reports whether a text fits a literal block, which would lose trailing spaces. */
function fitsBlock(text: string): boolean {
  return !/ (?:\n|$)/.test(text);
}

/** Reports whether a text needs no quotes. */
function isPlain(text: string): boolean {
  return !(
    /^[#,[\]{}&*!|>'"%@`]/.test(text) ||
    /^[-?:](?:[ \t]|$)/.test(text) ||
    /^(?:---|\.\.\.)/.test(text) ||
    /^ | $/.test(text) ||
    /:(?:[ \t]|$)/.test(text) ||
    /[ \t]#/.test(text)
  );
}

function literal(text: string, indent: string): string {
  const hint = /^[ \n]/.test(text) ? '2' : '';
  const chomp = !text.endsWith('\n') ? '-' : /^\n$|\n\n$/.test(text) ? '+' : '';
  const lines = text.replace(/\n$/, '').split('\n');
  return `|${hint}${chomp}\n${lines.map((line) => (line === '' ? '' : indent + line)).join('\n')}`;
}

const NAMED: Readonly<Record<string, string>> = {
  '\0': '0',
  '\x07': 'a',
  '\b': 'b',
  '\t': 't',
  '\n': 'n',
  '\v': 'v',
  '\f': 'f',
  '\r': 'r',
  '\x1b': 'e',
  '"': '"',
  '\\': '\\',
  '\x85': 'N',
};

function doubleQuoted(text: string, position: ScalarPosition): string {
  const escaped = text.replace(/["\\\n]|[^\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/gu, (char) => {
    const name = NAMED[char];
    if (name !== undefined) return `\\${name}`;
    const hex = (char.codePointAt(0) ?? 0).toString(16).toUpperCase();
    if (hex.length <= 2) return `\\x${hex.padStart(2, '0')}`;
    return hex.length <= 4 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
  });
  return folded(`"${escaped}"`, position);
}
