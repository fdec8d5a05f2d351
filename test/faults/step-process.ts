import type {ChildProcess} from 'node:child_process';
import {setTimeout as delay} from 'node:timers/promises';
import {until} from '../base/until.js';
import type {StepMessage} from './killed-step.js';
import {runnableTimer} from './runnable-timer.js';

const STOP_LIMIT_MS = 20_000;
/** Time within which a process says what it waits for, in ms. */
const ANSWER_LIMIT_MS = 5000;
const POLL_INTERVAL_MS = 100;

/** Message of a process whose kubelet has stopped, so that it can start another one. */
export interface StoppedMessage {
  /** Names of the resources that the kubelet should have released, such as `Timeout`. */
  readonly leftResources: readonly string[];
}

/** Answer of a process to `pending`: what its kubelet waits for. */
export interface PendingMessage {
  readonly pending: readonly string[];
}

/** A process that counts its steps with KilledStep, seen from its parent. */
export class StepProcess {
  readonly #child: ChildProcess;
  /** Resolves when the process has ended and all that it has sent has arrived. */
  readonly ended: Promise<void>;
  #steps: readonly string[] | undefined;
  #killedBefore: string | undefined;
  #leftResources: readonly string[] | undefined;
  #pending: readonly string[] | undefined;
  /** Called at each message of the process, and at its end. */
  #onNews = (): void => undefined;
  /** Listeners of the process. */
  readonly #ends = new Map<string, () => void>();
  readonly #receive = (message: Partial<StepMessage & StoppedMessage & PendingMessage>): void => {
    this.#steps = message.steps ?? this.#steps;
    this.#killedBefore = message.killedBefore ?? this.#killedBefore;
    this.#leftResources = message.leftResources ?? this.#leftResources;
    this.#pending = message.pending ?? this.#pending;
    this.#onNews();
  };

  /** Sends its options to a process, which starts then. */
  constructor(child: ChildProcess, options: object) {
    this.#child = child;
    child.ref();
    child.on('message', this.#receive);
    const end = (name: string): Promise<void> =>
      new Promise((resolve) => {
        child.once(name, resolve);
        this.#ends.set(name, resolve);
      });
    this.ended = Promise.all([end('exit'), end('disconnect')]).then(() => {
      this.#onNews();
    });
    child.send(options);
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Exit code; null while the process runs, and if a signal ended it. */
  get exitCode(): number | null {
    return this.#child.exitCode;
  }

  /** Signal that ended the process; null otherwise. */
  get signal(): NodeJS.Signals | null {
    return this.#child.signalCode;
  }

  /** Steps that the process has sent; undefined before. */
  get sentSteps(): readonly string[] | undefined {
    return this.#steps;
  }

  /** Step before which the process has killed itself; known when it has ended. */
  get killedBefore(): string | undefined {
    return this.#killedBefore;
  }

  /** Asks for the steps so far; undefined if the process ends before it answers. */
  async askSteps(): Promise<readonly string[] | undefined> {
    this.#child.send('steps', () => undefined); // a killed process has ended
    await until(() => this.#steps !== undefined || this.hasEnded);
    return this.#steps;
  }

  /**
   * Stops the kubelet, after which the process can get the options of another one. Returns the resources that it did not release.
   * Rejects if the process ends, and with what the kubelet waits for if it does not stop within `limitMs`.
   */
  async stop(limitMs = STOP_LIMIT_MS): Promise<readonly string[]> {
    this.#child.send('stop', () => undefined); // a killed process has ended
    const processor = await this.#waitFor(() => this.#leftResources !== undefined, limitMs);
    if (this.hasEnded) {
      await this.ended;
      throw new Error(`the kubelet ended with ${this.exitCode ?? this.signal}, but was to stop`);
    }
    if (this.#leftResources === undefined)
      throw new Error(
        `the kubelet did not stop in ${limitMs / 1000} s (${processor}): ${await this.#askPending()}`,
      );
    this.#child.off('message', this.#receive);
    for (const [name, listener] of this.#ends) this.#child.off(name, listener);
    return this.#leftResources;
  }

  async #askPending(): Promise<string> {
    this.#child.send('pending', () => undefined); // it may end meanwhile
    await this.#waitFor(() => this.#pending !== undefined, ANSWER_LIMIT_MS);
    return this.#pending?.join('; ') ?? 'it does not answer';
  }

  /** Waits for a message, or the end of the process, for a time. Returns how the process used it. */
  async #waitFor(hasArrived: () => boolean, limitMs: number): Promise<string> {
    const timer = runnableTimer(this.#child.pid, limitMs);
    while (!hasArrived() && !this.hasEnded && !timer.hasTimedOut()) {
      const limit = new AbortController();
      const news = new Promise<void>((resolve) => (this.#onNews = resolve));
      await Promise.race([
        news,
        delay(POLL_INTERVAL_MS, undefined, {signal: limit.signal}).catch(() => undefined),
      ]);
      limit.abort();
    }
    return timer.describe();
  }

  /** Kills the process (SIGKILL), unless it has ended. */
  async kill(): Promise<void> {
    if (!this.hasEnded) this.#child.kill('SIGKILL');
    await this.ended;
  }
}
