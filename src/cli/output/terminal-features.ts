import type {CliContext} from '../process/context.js';

type Environment = CliContext['env'];

/** Terminals that print control sequences as text. */
const WITHOUT_CURSOR_CONTROL: ReadonlySet<string> = new Set(['dumb', 'unknown', 'emacs']);

/** Reports whether the terminal of the environment can redraw lines; one without a name is assumed to. */
export function canMoveCursor(env: Environment): boolean {
  return !WITHOUT_CURSOR_CONTROL.has(env['TERM'] ?? '');
}

/** Reports whether the locale of the environment uses UTF-8. */
export function usesUtf8(env: Environment): boolean {
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find(
    (name) => name !== undefined && name !== '',
  );
  return /utf-?8/i.test(locale ?? '');
}

/** Characters that trees and shortened texts consist of. */
export interface LineGlyphs {
  readonly branch: string;
  readonly lastBranch: string;
  /** Continues a branch beside the lines below another one. */
  readonly vertical: string;
  /** Follows an activity that has not ended, or precedes what is omitted. */
  readonly pending: string;
  /** Replaces the end of a line that is too long. */
  readonly ellipsis: string;
}

/** Characters for terminals with Unicode. */
export const UNICODE_GLYPHS: LineGlyphs = {
  branch: '├─',
  lastBranch: '└─',
  vertical: '│',
  pending: '…',
  ellipsis: '…',
};

/** Characters for other terminals. */
export const ASCII_GLYPHS: LineGlyphs = {
  branch: '|-',
  lastBranch: '`-',
  vertical: '|',
  pending: '...',
  ellipsis: '~',
};

/** Returns the characters that the locale of the environment can show. */
export function glyphsOf(env: Environment): LineGlyphs {
  return usesUtf8(env) ? UNICODE_GLYPHS : ASCII_GLYPHS;
}
