import {PassThrough} from 'node:stream';
import {main} from '../../cli/program.js';
import {createProcessContext} from '../../../src/cli/process/context.js';
import {realTimeClock} from '../../fakes/fake-clock.js';
import type {CommandTestbed} from '../../commands/command-testbed.js';
import {UNCREATABLE_CONFIG_FILE} from '../../cli/uncreatable-path.js';

/** Sequences that a full-screen program writes, and text. */
const TOKENS = /\u001B\[\??[\d;]*[A-Za-z]|\u001B[^[]|[^\u001B]/gu;

/** Longest pause between two samples, in ms; longer sleeps limit calls and connections. */
const LONGEST_PAUSE_MS = 2000;

/** Emulates a terminal with an alternate screen and keys. */
export class ScreenTerminal {
  readonly stdout: PassThrough & {isTTY?: boolean; columns?: number; rows?: number};
  readonly stdin: PassThrough & {isTTY?: boolean; setRawMode?: (raw: boolean) => void};
  /** Modes that are on, such as `1049` for the alternate screen. */
  readonly modes = new Set<string>(['25']);
  isRaw = false;
  /** Parameters of all sequences that set colors and styles. */
  readonly styles = new Set<string>();
  #cells: string[][] = [];
  #row = 0;
  #column = 0;

  constructor(columns: number, rows: number) {
    this.stdout = Object.assign(new PassThrough({highWaterMark: 2 ** 26}), {isTTY: true, columns, rows});
    this.stdin = Object.assign(new PassThrough(), {
      isTTY: true,
      setRawMode: (raw: boolean) => {
        this.isRaw = raw;
      },
    });
    this.stdout.on('data', (chunk: Buffer) => {
      for (const [token] of chunk.toString().matchAll(TOKENS)) this.#take(token);
    });
  }

  /** Text of the screen without trailing spaces. */
  get screen(): string {
    const lines = Array.from({length: this.#cells.length}, (_, row) => {
      const cells = this.#cells[row] ?? [];
      return Array.from({length: cells.length}, (_cell, column) => cells[column] ?? ' ').join('');
    });
    return lines.map((line) => line.trimEnd()).join('\n');
  }

  type(keys: string): void {
    this.stdin.write(keys);
  }

  resize(columns: number, rows: number): void {
    Object.assign(this.stdout, {columns, rows});
    this.#cells = [];
    this.stdout.emit('resize');
  }

  #take(token: string): void {
    const [, parameters = '', letter = ''] = /^\u001B\[\??([\d;]*)([A-Za-z])$/.exec(token) ?? [];
    if (letter === '') this.#write(token);
    else if (letter === 'H') this.#moveTo(parameters);
    else if (letter === 'C') this.#column += Number(parameters || 1);
    else if (letter === 'J') this.#cells = [];
    else this.#change(letter, parameters);
  }

  #change(letter: string, parameters: string): void {
    if (letter === 'h') this.modes.add(parameters);
    else if (letter === 'l') this.modes.delete(parameters);
    else if (letter === 'm') for (const style of parameters.split(';')) this.styles.add(style);
  }

  #moveTo(parameters: string): void {
    const [row = 1, column = 1] = parameters.split(';').map(Number);
    this.#row = row - 1;
    this.#column = column - 1;
  }

  #write(char: string): void {
    if (char < ' ') return;
    const row = (this.#cells[this.#row] ??= []);
    row[this.#column] = char;
    this.#column += 1;
  }
}

/** Starts `kcri top` in this process on a terminal. */
export async function runTop(
  testbed: CommandTestbed,
  terminal: ScreenTerminal,
  {
    env = {},
    args = [],
  }: {readonly env?: Readonly<Record<string, string>>; readonly args?: readonly string[]} = {},
): Promise<{exitCode: number; stderr: string}> {
  const stderr = new PassThrough({highWaterMark: 2 ** 26});
  const exitCode = await main(['--root-dir', testbed.rootDir, 'top', ...args], {
    ...createProcessContext(),
    env: {
      CONTAINER_RUNTIME_ENDPOINT: testbed.runtime.endpoint,
      TERM: 'xterm-256color',
      LANG: 'C.UTF-8',
      ...env,
    },
    stdin: terminal.stdin,
    stdout: terminal.stdout,
    stderr,
    clock: realTimeClock({sleepMs: (ms) => (ms > LONGEST_PAUSE_MS ? ms : 20)}),
    wellKnownEndpoints: [],
    defaultConfigFile: UNCREATABLE_CONFIG_FILE,
    cgroupMount: undefined,
    localKubelet: undefined,
  });
  return {exitCode, stderr: ((stderr.read() as Buffer | null) ?? '').toString()};
}
