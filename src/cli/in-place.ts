import type {Output} from './output.js';

const HIDE_CURSOR = '\u001B[?25l';
const SHOW_CURSOR = '\u001B[?25h';
const CLEAR_BELOW = '\u001B[J';
/** What only colours. */
const COLOURS = /\u001B\[[\d;]*m/g;
const up = (lines: number): string => (lines === 0 ? '' : `\u001B[${lines}F`);

/** What shows something for a while, perhaps on a terminal that others write to. */
export interface View {
  /** Writes something else there, so that neither spoils the other. */
  aside(write: () => void): void;
}

/** Lines at the end of a terminal that are drawn over again and again, while the cursor is hidden. */
export class InPlace {
  readonly #output: Output;
  /** Not only `end` ends a drawing: a second Ctrl-C ends the process at once. */
  readonly #restore = (): void => {
    this.#output.write(SHOW_CURSOR);
  };
  #drawn: readonly string[] = [];

  constructor(output: Output) {
    this.#output = output;
    output.write(HIDE_CURSOR);
    process.once('exit', this.#restore);
  }

  /** How many lines can be drawn: what scrolls out at the top can't be drawn over, the last one is the cursor's. */
  get room(): number {
    return (this.#output.rows ?? 24) - 1;
  }

  /**
   * Draws over what was drawn before; `above` stays and scrolls by. Lines must not be longer than the terminal
   * is wide, and all but the last drawing must fit in the room that there is.
   */
  draw(lines: readonly string[], above = ''): void {
    const text = lines.map((line) => `${line}\n`).join('');
    this.#output.write(`${up(this.#height())}${CLEAR_BELOW}${above}${text}`);
    this.#drawn = lines;
  }

  /** How many rows the last drawing takes: a terminal that has become narrower breaks its lines. */
  #height(): number {
    const {columns = Infinity} = this.#output;
    const rowsOf = (line: string): number =>
      Math.max(1, Math.ceil(line.replace(COLOURS, '').length / columns));
    return this.#drawn.reduce((rows, line) => rows + rowsOf(line), 0);
  }

  /** Takes the last drawing away. */
  clear(): void {
    this.draw([]);
  }

  /** Leaves the last drawing where it is. */
  end(): void {
    process.off('exit', this.#restore);
    this.#restore();
  }
}
