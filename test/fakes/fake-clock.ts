import {readdirSync, readFileSync} from 'node:fs';
import {onAbort} from '../../src/base/async/abort-callbacks.js';
import {systemClock, type Clock} from '../../src/base/clock.js';

/** Start time of tests that compare times: 2026-05-01T12:00:00Z, in ms since the epoch. */
export const TEST_TIME_MS = Date.parse('2026-05-01T12:00:00Z');

/** Options of a FakeClock. */
export interface FakeClockOptions {
  /** Start time, in ms since the epoch; 0 by default. */
  readonly nowMs?: number;
  /** `manual` sleeps end when the time has passed them; `instant` sleeps end at once and do not move the time. */
  readonly sleep?: 'manual' | 'instant';
}

interface Sleeper {
  /** Elapsed time at which the sleep ends; jumps of the clock do not change it. */
  readonly untilMs: number;
  readonly wake: () => void;
}

/** A clock that a test controls. */
export class FakeClock implements Clock {
  #elapsedMs: number;
  readonly #startMs: number;
  #jumpedMs = 0;
  #jumpedAtMs: number;
  readonly #sleeps: number[] = [];
  readonly #sleepers = new Set<Sleeper>();
  readonly #isInstant: boolean;

  constructor({nowMs = 0, sleep = 'manual'}: FakeClockOptions = {}) {
    this.#elapsedMs = nowMs;
    this.#startMs = nowMs;
    this.#jumpedAtMs = nowMs;
    this.#isInstant = sleep === 'instant';
  }

  now(): number {
    return this.#elapsedMs + this.#jumpedMs;
  }

  /** Starts at 0, as the clock of a process does: a time since the epoch that is mistaken for it is noticed. */
  monotonic(): number {
    return this.#elapsedMs - this.#startMs;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.#sleeps.push(ms);
    if (this.#isInstant) return;
    await new Promise<void>((resolve, reject) => {
      const end = (): void => {
        this.#sleepers.delete(sleeper);
        forget?.();
      };
      const abort = (): void => {
        end();
        reject(signal?.reason as Error);
      };
      const wake = (): void => {
        end();
        resolve();
      };
      const sleeper = {untilMs: this.#elapsedMs + ms, wake};
      this.#sleepers.add(sleeper);
      const forget = signal && onAbort(signal, abort);
    });
  }

  /** Number of pending sleeps. */
  get sleeping(): number {
    return this.#sleepers.size;
  }

  /** Time until the first sleep ends, in whole ms; undefined without a pending one. */
  get untilNextMs(): number | undefined {
    if (this.#sleepers.size === 0) return undefined;
    return Math.ceil(Math.min(...[...this.#sleepers].map(({untilMs}) => untilMs)) - this.#elapsedMs);
  }

  /** The duration of every sleep so far, in ms. */
  get sleeps(): readonly number[] {
    return this.#sleeps;
  }

  /** Forgets the recorded sleeps. */
  clearSleeps(): void {
    this.#sleeps.length = 0;
  }

  /** The time right after the last jump, in ms since the epoch; the start time without one. */
  get jumpedAtMs(): number {
    return this.#jumpedAtMs;
  }

  /** Lets time pass and wakes the sleepers that are due, in the order of their end. */
  elapse(ms: number): void {
    this.#elapsedMs += ms;
    const due = [...this.#sleepers].filter(({untilMs}) => untilMs <= this.#elapsedMs);
    for (const {wake} of due.toSorted((a, b) => a.untilMs - b.untilMs)) wake();
  }

  /** Lets time pass, then lets the woken code run until it waits again. */
  async advance(ms: number): Promise<void> {
    this.elapse(ms);
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Sets the clock forward or back; sleepers keep their duration. */
  jump(ms: number): void {
    this.#jumpedMs += ms;
    this.#jumpedAtMs = this.now();
  }
}

/** Names of what a process may wait for apart from time: files, programs, keys and the next turn of the event loop. */
const isWork = (resource: string): boolean =>
  /^(FSReq.*|CloseReq|GetAddrInfoReqWrap|ProcessWrap|\w+Request|Immediate)$/.test(resource);

/** The state of vitest, of which a test that runs without it has none. Its functions can only wait for modules. */
interface VitestWorker {
  readonly __vitest_worker__?: {readonly resolvingModules: ReadonlySet<string>};
}

/** Number of modules that vitest is compiling for this process, in another one. */
const loadingModules = (): number =>
  (globalThis as VitestWorker).__vitest_worker__?.resolvingModules.size ?? 0;

/** Reports whether this process waits for a file, a program, a key, a module or the next turn of the event loop. */
export const isAtWork = (): boolean => process.getActiveResourcesInfo().some(isWork) || loadingModules() > 0;

/** Other processes whose work the fake clock waits for. */
const others = new Set<number>();

/** Makes fake clocks wait while a process that the tests started works, as they do for this process. */
export function waitForWorkOf(pid: number): void {
  others.add(pid);
}

/** Returns how often the threads of a process have waited so far; undefined while one of them runs. */
function activityOf(pid: number): string | undefined {
  const threads = readdirSync(`/proc/${pid}/task`).map((tid) => {
    const status = readFileSync(`/proc/${pid}/task/${tid}/status`, 'utf8');
    const [, state] = /^State:\t(.)/m.exec(status) ?? [];
    const [, waits] = /^voluntary_ctxt_switches:\t(\d+)/m.exec(status) ?? [];
    return state === 'S' ? `${tid}:${waits}` : undefined;
  });
  return threads.includes(undefined) ? undefined : threads.join(' ');
}

/** Returns the activity of the other processes; undefined for one that works or has ended. */
function activityOfOthers(): readonly (string | undefined)[] {
  return [...others].map((pid) => {
    try {
      return activityOf(pid);
    } catch {
      // A thread has ended meanwhile.
      return undefined;
    }
  });
}

/** Number of turns of the event loop without an event after which nothing is in flight on a socket of this process. */
const QUIET_TURNS = 2;

/**
 * Finds out whether this process and the others wait for time only: nothing that they began or sent to themselves is in
 * progress.
 */
class IdleDetector {
  #last = performance.nodeTiming.uvMetricsInfo;
  #others: readonly (string | undefined)[] = [];

  /** Reports whether nothing has happened since the last call that returned false, for at least QUIET_TURNS. */
  isIdle(): boolean {
    const {loopCount, events} = performance.nodeTiming.uvMetricsInfo;
    const isQuiet = events === this.#last.events;
    if (isQuiet && loopCount - this.#last.loopCount < QUIET_TURNS) return false;
    this.#last = performance.nodeTiming.uvMetricsInfo;
    const before = this.#others;
    this.#others = isQuiet ? activityOfOthers() : [];
    const areQuiet = this.#others.every(
      (activity, index) => activity !== undefined && activity === before[index],
    );
    return isQuiet && !isAtWork() && areQuiet && this.#others.length === others.size;
  }
}

/**
 * Moves a FakeClock to the end of the next sleep, by at least a small step, while this process is idle, so that minutes
 * pass in an instant and a slow machine only makes a test slow: no time passes while calls between the test and its fake
 * runtime are in progress. Stops when disposed.
 */
export class AutoAdvance implements Disposable {
  readonly #timer: NodeJS.Timeout;

  constructor(clock: FakeClock, stepMs = 50) {
    const detector = new IdleDetector();
    this.#timer = setInterval(() => {
      if (!detector.isIdle()) return;
      // Hours of fake time would fill the list.
      clock.clearSleeps();
      clock.elapse(Math.max(stepMs, clock.untilNextMs ?? 0));
    }, 1);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** Options of a real-time clock. */
export interface RealTimeClockOptions {
  /** Factor by which the clock is faster than real time. */
  readonly factor?: number;
  /** Returns how long a sleep really takes, in ms; by default its duration divided by `factor`. */
  readonly sleepMs?: (ms: number) => number;
  /** Time at which it shows the machine's time, in ms since the epoch; now by default. */
  readonly startMs?: number;
}

/** Returns the machine's clock at another pace. For commands that may run in another process, where steps are not seen. */
export function realTimeClock({
  factor = 1,
  sleepMs = (ms) => ms / factor,
  startMs = systemClock.now(),
}: RealTimeClockOptions): Clock {
  return {
    now: () => startMs + (systemClock.now() - startMs) * factor,
    monotonic: () => systemClock.monotonic() * factor,
    sleep: async (ms, signal) => {
      await systemClock.sleep(sleepMs(ms), signal);
    },
  };
}
