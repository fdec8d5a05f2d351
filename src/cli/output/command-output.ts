import {escapeControls, escapeControlsAsJson} from '../../format/escape-controls.js';
import type {CliContext} from '../process/context.js';
import type {LiveDisplay} from './live-region.js';
import {Output, wantsColor} from './output.js';

/** Part of Dialect that outputs need. */
interface EscapingDialect {
  /** True if control characters in text from the runtime are escaped on a terminal. */
  readonly escapesControls: boolean;
}

/** Standard output and standard error of one command. Both streams are opened on first use. */
export class CommandOutput {
  readonly #context: CliContext;
  readonly #dialect: EscapingDialect;
  #stdout: Output | undefined;
  #stderr: Output | undefined;
  #display: LiveDisplay | undefined;

  constructor(context: CliContext, dialect: EscapingDialect) {
    this.#context = context;
    this.#dialect = dialect;
  }

  /** Stream for data. */
  get stdout(): Output {
    this.#stdout ??= new Output(this.#context.stdout, 'standard output');
    return this.#stdout;
  }

  /** Stream for messages to people. */
  get stderr(): Output {
    this.#stderr ??= new Output(this.#context.stderr, 'standard error');
    return this.#stderr;
  }

  /** Standard error if something has used it: on a terminal, opening it takes a quarter of a short command. */
  get openStderr(): Output | undefined {
    return this.#stderr;
  }

  /** True if standard output takes colors. */
  get colors(): boolean {
    return wantsColor(this.#context.env, this.stdout);
  }

  /** True if control characters in text from the runtime must be escaped: on a terminal, which they could control. */
  get shouldEscapeControls(): boolean {
    return this.#dialect.escapesControls && this.stdout.isTerminal;
  }

  /** Writes a line of data, such as JSON, with control characters escaped as in JSON on a terminal. */
  print(text: string): void {
    this.printData(`${text}\n`);
  }

  /** Writes data as `print` does, with its line ends. */
  printData(text: string): void {
    this.stdout.write(this.shouldEscapeControls ? escapeControlsAsJson(text) : text);
  }

  /** Writes the text of each item, which includes its line end. */
  printAll<T>(items: readonly T[], textOf: (item: T) => string): void {
    this.printText(items.map(textOf).join(''));
  }

  /** Writes text for people, with control characters escaped on a terminal. Bytes are taken as UTF-8. */
  printText(text: string | Buffer): void {
    this.stdout.write(this.shouldEscapeControls ? escapeControls(text.toString()) : text);
  }

  /** Writes messages above this display from now on, so that they do not garble it. */
  writeAbove(display: LiveDisplay): void {
    this.#display = display;
  }

  /** Writes a message to standard error. */
  writeMessage(text: string): void {
    const write = (): void => {
      this.stderr.write(text);
    };
    if (this.#display === undefined) write();
    else this.#display.writeAbove(write);
  }

  /** Resolves when standard output is written. Rejects with the error that lost output. */
  async flushStdout(signal: AbortSignal): Promise<void> {
    await this.#stdout?.flush(signal);
  }

  /** Resolves when standard error is written. Rejects with the error that lost output. */
  async flushStderr(signal: AbortSignal): Promise<void> {
    await this.#stderr?.flush(signal);
  }
}
