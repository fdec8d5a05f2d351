import {PassThrough, Readable} from 'node:stream';
import {createProcessContext, type CliContext} from '../../../src/cli/context.js';
import {main} from '../program.js';
import type {PodScene} from '../../commands/pod-scene.js';

/** What a terminal shows, and shows of what is written to it; understands as much as the live tree uses. */
export class FakeTerminal {
  readonly columns: number;
  readonly rows: number;
  readonly stream: PassThrough & {isTTY?: boolean; columns?: number; rows?: number};
  /** The lines so far, those that have scrolled out at the top included. */
  readonly lines: string[] = [''];
  cursorVisible = true;
  /** The most lines that were ever there. */
  tallest = 0;
  /** Lines that were longer than the terminal is wide. */
  readonly wrapped: string[] = [];
  #row = 0;

  constructor(columns = 80, rows = 24) {
    this.columns = columns;
    this.rows = rows;
    this.stream = Object.assign(new PassThrough({highWaterMark: 2 ** 26}), {isTTY: true, columns, rows});
    this.stream.on('data', (chunk: Buffer) => {
      this.#take(chunk.toString());
    });
  }

  /** What is on the terminal, without the line that the cursor waits in. */
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
    else if (letter === 'J') this.lines.splice(this.#row, Infinity, '');
    else if (letter === 'l' || letter === 'h') this.cursorVisible = letter === 'h';
    else if (letter !== 'm') throw new Error(`the terminal does not know ${JSON.stringify(token)}`);
  }

  #write(text: string): void {
    const line = `${this.lines[this.#row] ?? ''}${text}`;
    this.lines[this.#row] = line;
    if (line.length > this.columns) this.wrapped.push(line);
  }

  #newline(): void {
    this.#row += 1;
    this.lines[this.#row] ??= '';
    this.tallest = Math.max(this.tallest, this.lines.length);
  }

  /** The cursor stays on the screen: what has scrolled out is out of reach. */
  #up(count: number): void {
    this.#row = Math.max(this.#row - count, this.lines.length - this.rows, 0);
  }
}

/** How a run on a terminal differs from others. */
type TerminalRun = Partial<Pick<CliContext, 'clock' | 'stderr'>> & {readonly signal?: AbortSignal};

/** Runs kcri in this process with a terminal as its standard output. */
export async function runOnTerminal(
  scene: PodScene,
  terminal: FakeTerminal,
  args: readonly string[],
  {signal, ...context}: TerminalRun = {},
): Promise<{exitCode: number; stderr: string}> {
  const stderr = new PassThrough({highWaterMark: 2 ** 26});
  const exitCode = await main(scene.args(args), {
    ...createProcessContext(signal),
    env: {CONTAINER_RUNTIME_ENDPOINT: scene.runtime.endpoint},
    stdin: Readable.from([]),
    stdout: terminal.stream,
    stderr,
    wellKnownEndpoints: [],
    defaultConfigFile: '/nonexistent/crictl.yaml',
    cgroupMount: undefined,
    ...context,
  });
  return {exitCode, stderr: ((stderr.read() as Buffer | null) ?? '').toString()};
}
