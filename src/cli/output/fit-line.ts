import {escapeToLine} from '../../format/escape-controls.js';

type Paint = (text: string) => string;

/** Part of a line with its color; a plain string has no color. */
export type LinePiece = string | readonly [text: string, paint: Paint];

/** Joins pieces, with control characters escaped, and cuts them to the width of the terminal, where it appends `ellipsis`. */
export function fitLine(pieces: readonly LinePiece[], columns: number, ellipsis: string): string {
  const parts = pieces.map((piece) => {
    const [text, paint]: readonly [string, Paint] =
      typeof piece === 'string' ? [piece, (plain) => plain] : piece;
    return [escapeToLine(text), paint] as const;
  });
  const whole = parts.reduce((sum, [text]) => sum + text.length, 0);
  const mark = whole > columns && columns > 0 ? ellipsis : '';
  let room = columns - mark.length;
  const shown = parts.map(([text, paint]) => {
    const cut = text.slice(0, Math.max(0, room));
    room -= cut.length;
    return cut === '' ? '' : paint(cut);
  });
  return `${shown.join('')}${mark}`;
}
