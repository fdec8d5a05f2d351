import type {Clock} from '../../../base/clock.js';
import {formatAge} from '../../../format/age.js';
import type {PodEvent, PodRef} from '../../../kubelet/index.js';

/** Time after which a repeated warning is shown for the first time, in ms; it doubles each time. */
const FIRST_INTERVAL_MS = 10_000;
/** Number of warnings that are remembered: messages with a time or a number never repeat. */
const MAX_WARNINGS = 1000;

/** A warning that was shown. Times are in ms of the monotonic clock. */
interface ShownWarning {
  readonly firstAt: number;
  readonly shownAt: number;
  readonly intervalMs: number;
  readonly count: number;
}

/**
 * Warning events as people see them: a failure that repeats at each retry is shown once, and then with its count at growing intervals,
 * as `kubectl get events` counts it.
 */
export class RepeatedWarnings {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #shown = new Map<string, ShownWarning>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Returns the message of a warning, with `(x3 over 12s)` if it is repeated; undefined for one that was shown recently. */
  next({uid}: PodRef, {reason, message, fieldPath = ''}: PodEvent): string | undefined {
    const key = [uid, fieldPath, reason, message].join('\0');
    const now = this.#clock.monotonic();
    const before = this.#shown.get(key);
    if (before === undefined) {
      this.#remember(key, {firstAt: now, shownAt: now, intervalMs: FIRST_INTERVAL_MS, count: 1});
      return message;
    }
    const repeated = {...before, count: before.count + 1};
    const isDue = now - before.shownAt >= before.intervalMs;
    const shown = {...repeated, shownAt: now, intervalMs: 2 * before.intervalMs};
    this.#remember(key, isDue ? shown : repeated);
    return isDue ? `${message} (x${repeated.count} over ${formatAge(now - before.firstAt)})` : undefined;
  }

  /** Keeps a warning as the last one, and forgets the first if there are too many. */
  #remember(key: string, warning: ShownWarning): void {
    this.#shown.delete(key);
    this.#shown.set(key, warning);
    const [first] = this.#shown.keys();
    if (this.#shown.size > MAX_WARNINGS && first !== undefined) this.#shown.delete(first);
  }
}
