import {cutToWidth, displayWidth, toCells} from '../../format/display-width.js';
import {escapeToLine} from '../../format/escape-controls.js';

type Paint = (text: string) => string;

/** Part of a line with its color; a plain string has no color. */
export type LinePiece = string | readonly [text: string, paint: Paint];

/** Joins pieces, with control characters escaped, and cuts them to the width of the terminal, where it appends `ellipsis`. */
export function fitLine(pieces: readonly LinePiece[], columns: number, ellipsis: string): string {
  const parts = pieces.map((piece) => {
    const [text, paint]: readonly [string, Paint] =
      typeof piece === 'string' ? [piece, (plain) => plain] : piece;
    return [toCells(escapeToLine(text)), paint] as const;
  });
  const whole = parts.reduce((sum, [text]) => sum + displayWidth(text), 0);
  const mark = whole > columns && columns > 0 ? ellipsis : '';
  let room = columns - mark.length;
  const shown = parts.map(([text, paint]) => {
    const cut = cutToWidth(text, room);
    // Nothing follows what is cut, such as half of a wide character.
    room = cut === text ? room - displayWidth(cut) : 0;
    return cut === '' ? '' : paint(cut);
  });
  return `${shown.join('')}${mark}`;
}
