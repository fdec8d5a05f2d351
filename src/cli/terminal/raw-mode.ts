import {spawn, type ChildProcess} from 'node:child_process';
import {messageOf} from '../../base/errors.js';
import type {TerminalInput} from './terminal-input.js';

/**
 * Settings of a raw terminal that Node.js leaves as they are, as arguments of stty. The important one is `-opost`: the
 * terminal of the container has translated its output already.
 */
const REMAINING_SETTINGS = ['-opost', '-ignbrk', '-parmrk', '-inlcr', '-igncr', '-echonl', '-parenb', 'cs8'];

/** Signals that end the process without the event 'exit'. */
const FATAL_SIGNALS = ['SIGHUP', 'SIGQUIT'] as const;

/** Raw mode of a terminal: every key is passed on, including Ctrl-C, and all output is shown unchanged. */
export class RawMode {
  readonly #terminal: TerminalInput;
  readonly #stty: ChildProcess | undefined;
  #isRaw = true;
  /** Resolves when output is shown unchanged, or with the reason why the terminal still translates it. Never rejects. */
  readonly outputIsRaw: Promise<string | undefined>;

  /**
   * Switches a terminal to raw mode. Also restores it if the process exits or receives a fatal signal before `leave`.
   * Node.js has no call for the mode of the output, so stty sets it meanwhile.
   */
  constructor(terminal: TerminalInput) {
    this.#terminal = terminal;
    terminal.setRawMode(true);
    process.once('exit', this.#restore);
    for (const name of FATAL_SIGNALS) process.once(name, this.#endBySignal);
    const {fd} = terminal;
    this.#stty =
      fd === undefined ? undefined : spawn('stty', REMAINING_SETTINGS, {stdio: [fd, 'ignore', 'ignore']});
    this.outputIsRaw = endOf(this.#stty);
  }

  /** Restores the terminal. */
  async leave(): Promise<void> {
    // It could set the terminal after it was restored.
    this.#stty?.kill('SIGKILL');
    await this.outputIsRaw;
    this.#restore();
  }

  readonly #restore = (): void => {
    process.removeListener('exit', this.#restore);
    for (const name of FATAL_SIGNALS) process.removeListener(name, this.#endBySignal);
    if (!this.#isRaw) return;
    this.#isRaw = false;
    this.#stty?.kill('SIGKILL');
    this.#terminal.setRawMode(false);
  };

  readonly #endBySignal = (name: NodeJS.Signals): void => {
    this.#restore();
    process.kill(process.pid, name);
  };
}

/** Resolves at the end of stty, with the reason if it has failed; only `leave` ends it with a signal. */
async function endOf(stty: ChildProcess | undefined): Promise<string | undefined> {
  if (stty === undefined) return undefined;
  return await new Promise((resolve) => {
    stty.once('error', (error) => {
      resolve(messageOf(error));
    });
    stty.once('exit', (exitCode) => {
      resolve(exitCode === 0 || exitCode === null ? undefined : `stty exited with ${exitCode}`);
    });
  });
}
