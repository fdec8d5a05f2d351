import {spawn, type ChildProcessByStdio} from 'node:child_process';
import type {Readable, Writable} from 'node:stream';
import {createInterface} from 'node:readline';
import {shellQuote} from '../../../src/base/shell-quote.js';

/**
 * A shell that runs short programs, such as mount(8), one after the other: a process as large as this one takes longer to start
 * them. Ends when disposed.
 */
export class MountShell implements Disposable {
  readonly #shell: ChildProcessByStdio<Writable, Readable, null>;
  /** Get the exit codes of the programs that were begun, in order. */
  readonly #waiting: ((exitCode: number) => void)[] = [];

  constructor() {
    this.#shell = spawn('sh', [], {stdio: ['pipe', 'pipe', 'ignore']});
    createInterface(this.#shell.stdout).on('line', (line) => this.#waiting.shift()?.(Number(line)));
  }

  /** Runs a program, whose output is ignored. Rejects if it fails. */
  async run(...command: readonly string[]): Promise<void> {
    const line = command.map((word) => shellQuote(word)).join(' ');
    const exitCode = await new Promise<number>((resolve) => {
      this.#waiting.push(resolve);
      this.#shell.stdin.write(`${line} </dev/null >/dev/null; echo $?\n`);
    });
    if (exitCode !== 0) throw new Error(`${line} failed with ${exitCode}`);
  }

  [Symbol.dispose](): void {
    this.#shell.stdin.end();
  }
}
