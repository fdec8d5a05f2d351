import {Socket} from 'node:net';
import terminalKit, {type Attributes, type ScreenBuffer, type Terminal} from 'terminal-kit';
import type {CliContext} from '../../cli/process/context.js';
import type {ScreenSize} from './model/top-state.js';
import type {ScreenLine, Style} from './view/screen-lines.js';
import {displayWidth} from '../../format/display-width.js';

/** Receives what happens on the terminal. */
export interface DisplayHandlers {
  /** Called with each key: a character, or a name such as `UP` or `CTRL_C`. */
  readonly onKey: (key: string) => void;
  readonly onResize: () => void;
}

/** Full screen of a terminal, by the library terminal-kit: keys, sizes, and the cells that have changed. */
export class TerminalDisplay implements Disposable {
  readonly #stdin: CliContext['stdin'];
  readonly #stdout: CliContext['stdout'];
  readonly #terminal: Terminal;
  readonly #attributes: ReadonlyMap<string, number>;
  #handlers: DisplayHandlers | undefined;
  readonly #onResize = (): void => {
    this.#handlers?.onResize();
  };
  /** Restores the terminal if the process ends without closing the display. */
  readonly #restore = (): void => {
    this.close();
  };
  readonly #hangUp = (): void => {
    this.close();
    process.kill(process.pid, 'SIGHUP');
  };
  #buffer: ScreenBuffer | undefined;
  #isOpen = false;

  constructor(
    {stdin, stdout, env}: Pick<CliContext, 'stdin' | 'stdout' | 'env'>,
    {colors}: {readonly colors: boolean},
  ) {
    this.#stdin = stdin;
    this.#stdout = stdout;
    const styles = Object.entries(colors ? COLORED : UNCOLORED);
    this.#attributes = new Map(styles.map(([style, attributes]) => [style, encodeAttributes(attributes)]));
    this.#terminal = terminalKit.createTerminal({
      stdin,
      stdout,
      generic: env['TERM'] ?? 'xterm',
      isTTY: true,
    });
    this.#terminal.on('key', (key) => {
      if (this.#isOpen) this.#handlers?.onKey(key);
    });
  }

  /** True while the view fills the screen. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  get size(): ScreenSize {
    const {columns = 80, rows = 24} = this.#stdout;
    return {columns: Math.max(columns, 1), rows: Math.max(rows, 1)};
  }

  /** Switches to the alternate screen and reads keys. */
  open(handlers: DisplayHandlers): void {
    if (this.#isOpen) return;
    this.#handlers = handlers;
    this.#isOpen = true;
    process.once('exit', this.#restore);
    process.once('SIGHUP', this.#hangUp);
    this.#stdout.on('resize', this.#onResize);
    this.#terminal.fullscreen(true);
    this.#terminal.hideCursor();
    // A session in between may have released it.
    if (this.#stdin instanceof Socket) this.#stdin.ref();
    this.#terminal.grabInput(true);
    this.#buffer = undefined;
  }

  /** Restores the terminal: screen, cursor and input mode. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    process.off('exit', this.#restore);
    process.off('SIGHUP', this.#hangUp);
    this.#stdout.removeListener('resize', this.#onResize);
    this.#terminal.styleReset();
    this.#terminal.hideCursor(false);
    this.#terminal.fullscreen(false);
    this.#terminal.grabInput(false);
  }

  /** Draws lines, each as wide as the screen; writes only cells that have changed. */
  draw(lines: readonly ScreenLine[]): void {
    if (!this.#isOpen) return;
    const buffer = this.#bufferOfSize(this.size);
    for (const [y, line] of lines.entries()) {
      let x = 0;
      for (const {text, style} of line) {
        buffer.put({x, y, attr: this.#attributeOf(style), wrap: false}, text);
        x += displayWidth(text);
      }
    }
    buffer.draw({delta: true});
  }

  /** Draws all cells the next time, over whatever other programs have written. */
  redraw(): void {
    this.#buffer = undefined;
  }

  #attributeOf(style: Style): number {
    return this.#attributes.get(style) ?? 0;
  }

  #bufferOfSize({columns: width, rows: height}: ScreenSize): ScreenBuffer {
    if (this.#buffer?.width === width && this.#buffer.height === height) return this.#buffer;
    this.#buffer = new terminalKit.ScreenBuffer({dst: this.#terminal, width, height});
    this.#buffer.fill({attr: this.#attributeOf('plain'), char: ' '});
    return this.#buffer;
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** Returns the number by which the library represents an appearance. */
function encodeAttributes(attributes: Attributes): number {
  return terminalKit.ScreenBuffer.object2attr({...attributes});
}

const DEFAULT = {defaultColor: true, bgDefaultColor: true};

const COLORED: Readonly<Record<Style, Attributes>> = {
  plain: DEFAULT,
  title: {color: 'black', bgColor: 'cyan', bold: true},
  header: {...DEFAULT, bold: true, underline: true},
  sorted: {color: 'cyan', bgDefaultColor: true, bold: true, underline: true},
  selected: {...DEFAULT, inverse: true},
  dim: {color: 'brightBlack', bgDefaultColor: true},
  good: {color: 'green', bgDefaultColor: true},
  warning: {color: 'yellow', bgDefaultColor: true},
  bad: {color: 'red', bgDefaultColor: true},
  accent: {color: 'cyan', bgDefaultColor: true},
  match: {color: 'black', bgColor: 'yellow'},
  key: {...DEFAULT, bold: true},
};

const UNCOLORED: Readonly<Record<Style, Attributes>> = {
  plain: DEFAULT,
  title: {...DEFAULT, inverse: true},
  header: {...DEFAULT, underline: true},
  sorted: {...DEFAULT, bold: true, underline: true},
  selected: {...DEFAULT, inverse: true},
  dim: DEFAULT,
  good: DEFAULT,
  warning: {...DEFAULT, bold: true},
  bad: {...DEFAULT, bold: true},
  accent: {...DEFAULT, bold: true},
  match: {...DEFAULT, inverse: true},
  key: {...DEFAULT, bold: true},
};
