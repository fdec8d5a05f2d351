import type {ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import {until} from '../base/until.js';
import type {StepMessage} from './killed-step.js';

/** A process that counts its steps with KilledStep, seen from its parent. */
export class StepProcess {
  readonly #child: ChildProcess;
  /** Resolves when the process has ended and all that it has sent has arrived. */
  readonly ended: Promise<void>;
  #steps: readonly string[] | undefined;
  #killedBefore: string | undefined;

  /** Sends its options to a process, which starts then. */
  constructor(child: ChildProcess, options: object) {
    this.#child = child;
    child.ref();
    child.on('message', (message) => {
      const {steps, killedBefore} = message as StepMessage;
      this.#steps = steps ?? this.#steps;
      this.#killedBefore = killedBefore ?? this.#killedBefore;
    });
    this.ended = Promise.all([once(child, 'exit'), once(child, 'disconnect')]).then(() => undefined);
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

  /** Kills the process (SIGKILL), unless it has ended. */
  async kill(): Promise<void> {
    if (!this.hasEnded) this.#child.kill('SIGKILL');
    await this.ended;
  }
}
