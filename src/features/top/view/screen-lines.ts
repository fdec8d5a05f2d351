import {displayWidth, fitToWidth, toCells} from '../../../format/display-width.js';
import {escapeToLine} from '../../../format/escape-controls.js';
import {
  ASCII_GLYPHS as ASCII_LINES,
  UNICODE_GLYPHS as UNICODE_LINES,
  type LineGlyphs,
} from '../../../cli/output/terminal-features.js';

/** Appearance of a piece of text. */
export type Style =
  | 'plain'
  | 'title'
  | 'header'
  | 'sorted'
  | 'selected'
  | 'dim'
  | 'good'
  | 'warning'
  | 'bad'
  | 'accent'
  | 'match'
  | 'key';

/** Piece of a line in one style, without control characters. */
export interface Segment {
  readonly text: string;
  readonly style: Style;
}

/** Line of the screen. */
export type ScreenLine = readonly Segment[];

/** Characters for drawing: those of Unicode, or ASCII on terminals without it. */
export interface Glyphs extends Pick<LineGlyphs, 'ellipsis' | 'branch' | 'lastBranch'> {
  readonly up: string;
  readonly down: string;
  readonly cursor: string;
  /** Bars from the lowest to the highest. */
  readonly bars: readonly string[];
}

/** Characters for terminals with Unicode. */
export const UNICODE_GLYPHS: Glyphs = {
  ...UNICODE_LINES,
  up: '▲',
  down: '▼',
  branch: '├ ',
  lastBranch: '└ ',
  cursor: '█',
  bars: ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
};

/** Characters for other terminals. */
export const ASCII_GLYPHS: Glyphs = {
  ...ASCII_LINES,
  up: '^',
  down: 'v',
  cursor: '_',
  bars: ['_', '.', ':', '-', '=', '+', '*', '#'],
};

/** Returns a segment. */
export function segment(text: string, style: Style = 'plain'): Segment {
  return {text, style};
}

/** Returns text from the runtime or a container without control characters and characters that take no cell. */
export function safeText(text: string): string {
  return toCells(escapeToLine(text));
}

/** Returns the width of a line in cells. */
export function lineWidth(line: ScreenLine): number {
  return line.reduce((width, {text}) => width + displayWidth(text), 0);
}

/** Returns the line cut or padded to the width; the padding has the style of the last segment. */
export function fitLine(line: ScreenLine, width: number, ellipsis: string): ScreenLine {
  const fitted: Segment[] = [];
  let rest = width;
  for (const [index, {text, style}] of line.entries()) {
    const used = displayWidth(text);
    const isLast = index === line.length - 1;
    if (used > rest || isLast) {
      fitted.push({text: fitToWidth(text, rest, ellipsis), style});
      return fitted;
    }
    fitted.push({text, style});
    rest -= used;
  }
  return [segment(' '.repeat(width))];
}

/** Returns the line in one style. */
export function restyle(line: ScreenLine, style: Style): ScreenLine {
  return line.map(({text}) => ({text, style}));
}

/** Returns the text of a line, for tests and terminals without styles. */
export function lineText(line: ScreenLine): string {
  return line.map(({text}) => text).join('');
}
