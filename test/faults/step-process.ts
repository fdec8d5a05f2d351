import type {ChildProcess} from 'node:child_process';
import {setTimeout as delay} from 'node:timers/promises';
import {until} from '../base/until.js';
import type {StepMessage} from './killed-step.js';

const STOP_LIMIT_MS = 20_000;

/** Message of a process whose kubelet has stopped, so that it can start another one. */
export interface StoppedMessage {
  /** Names of the resources that the kubelet should have released, such as `Timeout`. */
  readonly leftResources: readonly string[];
}

/** A process that counts its steps with KilledStep, seen from its parent. */
export class StepProcess {
  readonly #child: ChildProcess;
  /** Resolves when the process has ended and all that it has sent has arrived. */
  readonly ended: Promise<void>;
  #steps: readonly string[] | undefined;
  #killedBefore: string | undefined;
  #leftResources: readonly string[] | undefined;
  #onStopped = (): void => undefined;
  /** Listeners of the process. */
  readonly #ends = new Map<string, () => void>();
  readonly #receive = (message: Partial<StepMessage & StoppedMessage>): void => {
    this.#steps = message.steps ?? this.#steps;
    this.#killedBefore = message.killedBefore ?? this.#killedBefore;
    if (message.leftResources === undefined) return;
    this.#leftResources = message.leftResources;
    this.#onStopped();
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
    this.ended = Promise.all([end('exit'), end('disconnect')]).then(() => undefined);
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
   * Stops the kubelet, after which the process can get the options of another one. Returns the resources that it did not release;
   * undefined if the process has ended, or the kubelet has not stopped after a while.
   */
  async stop(): Promise<readonly string[] | undefined> {
    const hasStopped = new Promise<void>((resolve) => (this.#onStopped = resolve));
    this.#child.send('stop', () => undefined); // a killed process has ended
    const limit = new AbortController();
    await Promise.race([
      ...[hasStopped, this.ended],
      delay(STOP_LIMIT_MS, undefined, {signal: limit.signal}).catch(() => undefined),
    ]);
    limit.abort();
    if (this.hasEnded || this.#leftResources === undefined) return undefined;
    this.#child.off('message', this.#receive);
    for (const [name, listener] of this.#ends) this.#child.off(name, listener);
    return this.#leftResources;
  }

  /** Kills the process (SIGKILL), unless it has ended. */
  async kill(): Promise<void> {
    if (!this.hasEnded) this.#child.kill('SIGKILL');
    await this.ended;
  }
}
