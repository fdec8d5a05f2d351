import {KcriError} from '../base/errors.js';

/** A place in a manifest, counted from 1; a column counts UTF-16 units. */
export interface ManifestPosition {
  readonly line: number;
  readonly column: number;
}

/** Something wrong with a manifest, and where. */
export interface ManifestIssue extends ManifestPosition {
  /** The field, as the API server writes it; empty when it is about the file's syntax. */
  readonly path: string;
  /** The whole sentence, with the path where the API server gives one. */
  readonly message: string;
  readonly file: string;
  /** The line of the file; undefined for one that may hold a Secret's values. */
  readonly source: string | undefined;
}

/** How many issues are shown at once; a manifest with more has one cause behind most of them. */
const MOST_SHOWN = 25;
/** Longer lines (JSON without line breaks) are shown around the column. */
const WIDEST_SOURCE = 100;

/** Keeps the column and the terminal intact: a tab stays a tab, other control characters become dots. */
function printable(source: string): string {
  return source.replace(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/g, '·');
}

/** An issue as `file:line:column: message`, with the line of the file and a caret below it. */
export function renderIssue({file, line, column, message, source}: ManifestIssue): string {
  const gutter = String(line).padStart(5);
  const title = `${file}:${line}:${column}: ${message}`;
  if (source === undefined) return `${title}\n${gutter} | (not shown, since it belongs to a Secret)`;
  const start = column <= WIDEST_SOURCE ? 0 : column - WIDEST_SOURCE / 2;
  const shown = printable(source).slice(start, start + WIDEST_SOURCE);
  const indent = shown.slice(0, column - 1 - start).replace(/[^\t]/g, ' ');
  return [title, `${gutter} | ${shown}`, `${' '.repeat(gutter.length)} | ${indent}^`].join('\n');
}

/** Manifests that can't be taken as they are; the message shows each issue with its line. */
export class PodValidationError extends KcriError {
  readonly code = 'POD_INVALID';
  readonly issues: readonly ManifestIssue[];

  constructor(issues: readonly ManifestIssue[]) {
    const shown = issues.slice(0, MOST_SHOWN).map(renderIssue);
    const rest = issues.length - shown.length;
    super([...shown, ...(rest > 0 ? [`and ${rest} more`] : [])].join('\n'));
    this.issues = issues;
  }
}
