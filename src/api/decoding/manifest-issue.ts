import {KcriError} from '../../base/errors.js';

/** Position in a manifest, starting at 1; columns count UTF-16 code units. */
export interface ManifestPosition {
  readonly line: number;
  readonly column: number;
}

/** A problem of a manifest with its position. */
export interface ManifestIssue extends ManifestPosition {
  /** Field path in the API server's notation; empty for a syntax error. */
  readonly path: string;
  /** Full message, including the path where the API server includes it. */
  readonly message: string;
  readonly file: string;
  /** The line of the file; undefined if it may contain values of a Secret. */
  readonly source: string | undefined;
}

/** Maximum number of issues to show; more issues usually have one common cause. */
const MOST_SHOWN = 25;
/** Maximum length of a line that is shown completely; of a longer line only the part around the column is shown. */
const WIDEST_SOURCE = 100;

/** Replaces control characters except tabs by dots, which keeps the column and protects the terminal. */
function printable(source: string): string {
  return source.replace(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/g, '·');
}

/** Formats an issue as `file:line:column: message`, with the line of the file and a caret. */
export function renderIssue({file, line, column, message, source}: ManifestIssue): string {
  const gutter = String(line).padStart(5);
  const title = `${file}:${line}:${column}: ${message}`;
  if (source === undefined) return `${title}\n${gutter} | (not shown, since it may contain secrets)`;
  const start = column <= WIDEST_SOURCE ? 0 : column - WIDEST_SOURCE / 2;
  const shown = printable(source).slice(start, start + WIDEST_SOURCE);
  const indent = shown.slice(0, column - 1 - start).replace(/[^\t]/g, ' ');
  return [title, `${gutter} | ${shown}`, `${' '.repeat(gutter.length)} | ${indent}^`].join('\n');
}

/** Invalid manifests; the message shows each issue with its line. */
export class PodValidationError extends KcriError {
  readonly code = 'POD_INVALID';
  readonly issues: readonly ManifestIssue[];

  /** `others` are the errors of manifests that could not be parsed at all; their messages come first. */
  constructor(issues: readonly ManifestIssue[], others: readonly KcriError[] = []) {
    const shown = issues.slice(0, MOST_SHOWN).map(renderIssue);
    const rest = issues.length - shown.length;
    const messages = others.map(({message}) => message);
    super([...messages, ...shown, ...(rest > 0 ? [`and ${rest} more`] : [])].join('\n'));
    this.issues = issues;
  }
}
