import type {ChildProcess} from 'node:child_process';
import {isAtWork, type FakeClock} from '../fakes/fake-clock.js';

const STEP_MS = 100;

/** A message of the clock to the follower: time passes. */
export interface Tick {
  readonly tickMs: number;
}
/** The follower's reply when it waits for time again. */
export const TICKED = 'ticked';

/**
 * Moves a FakeClock while this process is idle, as AutoAdvance does, and with it the clock of another process, which each
 * step waits for. Stops when disposed.
 */
export class LockstepClock implements Disposable {
  readonly #timer: NodeJS.Timeout;
  #follower: ChildProcess | undefined;
  #isAwaited = false;

  constructor(clock: FakeClock) {
    this.#timer = setInterval(() => {
      if (this.#isAwaited || isAtWork()) return;
      clock.clearSleeps();
      clock.elapse(STEP_MS);
      if (this.#follower?.connected !== true) return;
      this.#isAwaited = true;
      const tick: Tick = {tickMs: STEP_MS};
      this.#follower.send(tick, () => undefined); // a killed follower has ended
    }, 1);
  }

  /** Advances the clock of this process too, until it ends. */
  lead(follower: ChildProcess): void {
    this.#follower = follower;
    follower.on('message', (message) => {
      if (message === TICKED) this.#isAwaited = false;
    });
    follower.once('exit', () => {
      this.#follower = undefined;
      this.#isAwaited = false;
    });
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** Advances `clock` by the ticks of the parent process, and replies to each when this process is idle again. */
export function followParent(clock: FakeClock): void {
  process.on('message', (message) => {
    if (typeof message !== 'object' || message === null || !('tickMs' in message)) return;
    clock.clearSleeps();
    clock.elapse((message as Tick).tickMs);
    reportIdle();
  });
}

function reportIdle(): void {
  setTimeout(() => {
    if (isAtWork()) reportIdle();
    else process.send?.(TICKED);
  }, 1);
}
