/** Matches text whose characters take one cell each. */
const NARROW = /^[\x20-\x7e]*$/;
/** Matches characters that take no cell of their own: combining marks and format characters. */
const ZERO_WIDTH = /[\p{Mn}\p{Me}\p{Cf}]/gu;
/** Matches characters that take two cells: those of East Asian scripts, and emojis. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]/u;

/** Returns the text without characters that a grid of cells cannot show: those that take no cell of their own. */
export function toCells(text: string): string {
  return NARROW.test(text) ? text : text.normalize('NFC').replace(ZERO_WIDTH, '');
}

/** Returns the number of cells that a text without zero-width characters takes on a terminal. */
export function displayWidth(text: string): number {
  if (NARROW.test(text)) return text.length;
  let width = 0;
  for (const char of text) width += WIDE.test(char) ? 2 : 1;
  return width;
}

/** Returns the longest beginning of a text that fits the width. */
export function cutToWidth(text: string, width: number): string {
  if (NARROW.test(text)) return text.slice(0, Math.max(width, 0));
  let used = 0;
  let end = 0;
  for (const char of text) {
    used += WIDE.test(char) ? 2 : 1;
    if (used > width) break;
    end += char.length;
  }
  return text.slice(0, end);
}

/** Returns the text padded, or cut and ended by an ellipsis of one cell, so that it takes exactly the width. */
export function fitToWidth(text: string, width: number, ellipsis: string): string {
  if (width <= 0) return '';
  const used = displayWidth(text);
  if (used <= width) return text + ' '.repeat(width - used);
  const cut = cutToWidth(text, width - 1);
  return cut + ellipsis + ' '.repeat(width - 1 - displayWidth(cut));
}

/** Returns the text padded, or cut in the middle, so that it takes exactly the width: names often differ at their ends. */
export function fitMiddleToWidth(text: string, width: number, ellipsis: string): string {
  const used = displayWidth(text);
  if (used <= width || width < 3) return fitToWidth(text, width, ellipsis);
  const start = cutToWidth(text, Math.ceil((width - 1) / 2));
  let end = text.slice(start.length);
  while (displayWidth(start) + 1 + displayWidth(end) > width)
    end = end.slice((/^./u.exec(end) ?? ['x'])[0].length);
  return fitToWidth(`${start}${ellipsis}${end}`, width, ellipsis);
}

/** Splits a text into pieces that fit the width; an empty text is one empty piece. */
export function wrapToWidth(text: string, width: number): readonly string[] {
  const pieces: string[] = [];
  let rest = text;
  do {
    // A wide character does not fit a single cell.
    const piece = cutToWidth(rest, Math.max(width, 2));
    pieces.push(piece);
    rest = rest.slice(piece.length);
  } while (rest !== '');
  return pieces;
}
