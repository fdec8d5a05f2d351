import {PassThrough, Readable} from 'node:stream';
import {createProcessContext, type CliContext} from '../../../src/cli/process/context.js';
import {main} from '../program.js';
import type {CommandTestbed} from '../../commands/command-testbed.js';
import {UNCREATABLE_CONFIG_FILE} from '../uncreatable-path.js';

/** Emulates a terminal's screen, with the escape codes that the live tree uses. */
export class FakeTerminal {
  readonly columns: number;
  readonly rows: number;
  readonly stream: PassThrough & {isTTY?: boolean; columns?: number; rows?: number};
  /** All lines, including those scrolled off the top. */
  readonly lines: string[] = [''];
  cursorVisible = true;
  /** Maximum number of lines so far. */
  tallest = 0;
  /** Lines longer than the width of the terminal. */
  readonly wrapped: string[] = [];
  #row = 0;
  #column = 0;

  constructor(columns = 80, rows = 24) {
    this.columns = columns;
    this.rows = rows;
    this.stream = Object.assign(new PassThrough({highWaterMark: 2 ** 26}), {isTTY: true, columns, rows});
    this.stream.on('data', (chunk: Buffer) => {
      this.#take(chunk.toString());
    });
  }

  /** Returns the screen without the line of the cursor. */
  get text(): string {
    return this.lines.join('\n').trimEnd();
  }

  #take(text: string): void {
    for (const [token] of text.matchAll(/\u001B\[\??\d*[A-Za-z]|\n|[^\u001B\n]+/g)) this.#apply(token);
  }

  #apply(token: string): void {
    const [, number = '', letter] = /^\u001B\[\??(\d*)([A-Za-z])$/.exec(token) ?? [];
    if (token === '\n') this.#newline();
    else if (letter === undefined) this.#write(token);
    else if (letter === 'F') this.#up(Number(number));
    else if (letter === 'J') this.#clearBelow();
    else if (letter === 'K') this.#clearLineEnd();
    else if (letter === 'l' || letter === 'h') this.cursorVisible = letter === 'h';
    else if (letter !== 'm') throw new Error(`unsupported terminal sequence ${JSON.stringify(token)}`);
  }

  #write(text: string): void {
    const line = (this.lines[this.#row] ?? '').padEnd(this.#column);
    const written = `${line.slice(0, this.#column)}${text}`;
    this.lines[this.#row] = `${written}${line.slice(written.length)}`;
    this.#column = written.length;
    if (written.length > this.columns) this.wrapped.push(written);
  }

  #clearBelow(): void {
    this.#clearLineEnd();
    this.lines.length = this.#row + 1;
  }

  /** Erases from the cursor, which stays on the last character of a full line. */
  #clearLineEnd(): void {
    const start = Math.min(this.#column, this.columns - 1);
    this.lines[this.#row] = (this.lines[this.#row] ?? '').slice(0, start);
  }

  #newline(): void {
    this.#row += 1;
    this.#column = 0;
    this.lines[this.#row] ??= '';
    this.tallest = Math.max(this.tallest, this.lines.length);
  }

  /** Moves the cursor up, but not above the screen: scrolled lines cannot be reached. */
  #up(count: number): void {
    this.#column = 0;
    this.#row = Math.max(this.#row - count, this.lines.length - this.rows, 0);
  }
}

/** Options of a run on a terminal. */
type TerminalRun = Partial<Pick<CliContext, 'clock' | 'env' | 'stderr'>> & {readonly signal?: AbortSignal};

/** Runs kcri in this process with a terminal as standard output. */
export async function runOnTerminal(
  testbed: CommandTestbed,
  terminal: FakeTerminal,
  args: readonly string[],
  {signal, ...context}: TerminalRun = {},
): Promise<{exitCode: number; stderr: string}> {
  const stderr = new PassThrough({highWaterMark: 2 ** 26});
  const exitCode = await main(testbed.args(args), {
    ...createProcessContext(signal),
    env: {CONTAINER_RUNTIME_ENDPOINT: testbed.runtime.endpoint, LANG: 'C.UTF-8'},
    stdin: Readable.from([]),
    stdout: terminal.stream,
    stderr,
    wellKnownEndpoints: [],
    defaultConfigFile: UNCREATABLE_CONFIG_FILE,
    cgroupMount: undefined,
    ...context,
  });
  return {exitCode, stderr: ((stderr.read() as Buffer | null) ?? '').toString()};
}
