import {execFileSync} from 'node:child_process';
import {randomBytes} from 'node:crypto';
import {until} from '../../base/until.js';

/** A key is pressed again after as many looks at the screen, so that a slow program has time to show its effect. */
const POLLS_BETWEEN_PRESSES = 50;

/** A terminal of tmux with a shell. */
export class TmuxTerminal implements Disposable {
  readonly #server = `kcri-test-${randomBytes(4).toString('hex')}`;

  constructor(columns: number, rows: number, env: Readonly<Record<string, string>>) {
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    this.#tmux(
      ...['-f', '/dev/null', 'new-session', '-d', '-x', String(columns), '-y', String(rows)],
      ...['env', ...variables, 'PS1=$ ', 'ENV=', 'sh'],
    );
  }

  /** Types text and Enter. */
  typeLine(text: string): void {
    this.#tmux('send-keys', '-l', text);
    this.pressKeys('Enter');
  }

  /** Presses keys by tmux's names, such as `C-c`. */
  pressKeys(...keys: readonly string[]): void {
    this.#tmux('send-keys', ...keys);
  }

  resize(columns: number, rows: number): void {
    this.#tmux('resize-window', '-x', String(columns), '-y', String(rows));
  }

  /** Visible text, without trailing blank lines. */
  get screen(): string {
    return this.#tmux('capture-pane', '-p').trimEnd();
  }

  /** Visible text with the control sequences of its styles. */
  get styledScreen(): string {
    return this.#tmux('capture-pane', '-p', '-e');
  }

  /** PID of the shell. */
  get pid(): number {
    return Number(this.describe('#{pane_pid}'));
  }

  /** Returns facts about the terminal in tmux's format, such as `#{cursor_flag}`. */
  describe(format: string): string {
    return this.#tmux('display-message', '-p', format).trim();
  }

  /** Resolves when the screen matches. */
  async waitForScreen(pattern: RegExp): Promise<void> {
    await until(
      () => pattern.test(this.screen),
      () => `${String(pattern)} on the screen:\n${this.screen}`,
    );
  }

  /**
   * Presses a key until the screen matches: a busy program may drop a key. Only for keys that do no harm when they are
   * pressed again.
   */
  async pressUntilScreen(key: string, pattern: RegExp): Promise<void> {
    await this.pressUntil(
      key,
      () => pattern.test(this.screen),
      () => `${String(pattern)} on the screen:\n${this.screen}`,
    );
  }

  /** Presses a key until the condition holds, like `pressUntilScreen`. */
  async pressUntil(key: string, holds: () => boolean, describe?: () => string): Promise<void> {
    let polls = 0;
    await until(() => {
      if (holds()) return true;
      if (polls++ % POLLS_BETWEEN_PRESSES === 0) this.pressKeys(key);
      return false;
    }, describe);
  }

  /** Clears the screen, so that later output can be distinguished from earlier output. */
  async clear(): Promise<void> {
    this.typeLine('clear; echo cle"are"d');
    await this.waitForScreen(/^cleared$/m);
  }

  [Symbol.dispose](): void {
    this.#tmux('kill-server');
  }

  #tmux(...args: readonly string[]): string {
    return execFileSync('tmux', ['-L', this.#server, ...args], {encoding: 'utf8'});
  }
}
