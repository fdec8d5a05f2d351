import {displayWidth, toCells} from '../../format/display-width.js';
import type {Output} from './output.js';

const HIDE_CURSOR = '\u001B[?25l';
const SHOW_CURSOR = '\u001B[?25h';
const CLEAR_BELOW = '\u001B[J';
const CLEAR_TO_LINE_END = '\u001B[K';
/** Control sequences for colors. */
const COLORS = /\u001B\[[\d;]*m/g;
const up = (lines: number): string => (lines === 0 ? '' : `\u001B[${lines}F`);

/** Display that may share the terminal with other output. */
export interface LiveDisplay {
  /** Writes other output without corrupting the display. */
  writeAbove(write: () => void): void;
}

/** Lines at the end of a terminal that are redrawn in place, with a hidden cursor. */
export class LiveRegion {
  readonly #output: Output;
  /** A second Ctrl-C exits without calling `end`, so the cursor is also restored on exit. */
  readonly #restore = (): void => {
    this.#output.write(SHOW_CURSOR);
  };
  #drawn: readonly string[] = [];

  constructor(output: Output) {
    this.#output = output;
    output.write(HIDE_CURSOR);
    process.once('exit', this.#restore);
  }

  /**
   * Returns the maximum number of lines, one less than the height: lines that scroll out cannot be redrawn, and the
   * cursor takes the last line.
   */
  get maxLines(): number {
    return (this.#output.rows ?? 24) - 1;
  }

  /**
   * Draws lines over the previous drawing; `above` is printed before them and scrolls away. Lines must fit the terminal
   * width, and all drawings except the last must fit `maxLines`. Rows are overwritten rather than erased before, so that
   * they do not flicker; only `above` may contain anything, and erases them.
   */
  draw(lines: readonly string[], above = ''): void {
    const scrolled = above === '' ? '' : `${CLEAR_BELOW}${above}`;
    const text = lines.map((line) => `${line}${this.#clearRest(line)}\n`).join('');
    this.#output.write(`${up(this.#height())}${scrolled}${text}${CLEAR_BELOW}`);
    this.#drawn = lines;
  }

  /** Returns what erases the rest of a row; nothing for a full one, where it would erase the last character. */
  #clearRest(line: string): string {
    return widthOf(line) < (this.#output.columns ?? Infinity) ? CLEAR_TO_LINE_END : '';
  }

  /** Returns the height of the last drawing in rows; a narrower terminal wraps its lines. */
  #height(): number {
    const {columns = Infinity} = this.#output;
    const rowsOf = (line: string): number => Math.max(1, Math.ceil(widthOf(line) / columns));
    return this.#drawn.reduce((rows, line) => rows + rowsOf(line), 0);
  }

  /** Erases the last drawing. */
  clear(): void {
    this.draw([]);
  }

  /** Ends the live region. The last drawing remains. */
  end(): void {
    process.off('exit', this.#restore);
    this.#restore();
  }
}

/** Returns the number of cells that a line takes. */
function widthOf(line: string): number {
  return displayWidth(toCells(line.replace(COLORS, '')));
}
