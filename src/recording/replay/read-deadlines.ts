/** Start and end of a call, in ms since the start of the recording or of the replay. */
export interface CallTimes {
  readonly startMs: number;
  readonly endMs: number;
}

/** Time for a read to answer as recorded on a runtime that is as fast as the recorded one, in ms. */
const SETTLE_MS = 5000;
/** Largest factor by which a slow runtime extends it. */
const MAX_SLOWNESS = 12;
/** Duration of calls below which they are no measure, in ms. */
const MEASURABLE_MS = 500;

/**
 * Computes how long a read of a replay is repeated until it answers as recorded: as long after the calls that change something
 * as the recorded client waited, and a while longer. The while grows with the time that starts of pods and containers take, compared with
 * the recording. Pure.
 */
export class ReadDeadlines {
  #lagMs = 0;
  #recordedMs = MEASURABLE_MS;
  #replayedMs = MEASURABLE_MS;

  /** Adds a call that changes something. Calls that start something measure the runtime; others may wait for containers. */
  add(recorded: CallTimes, replayed: CallTimes, isStart: boolean): void {
    this.#lagMs = Math.max(this.#lagMs, replayed.endMs - recorded.endMs);
    if (!isStart) return;
    this.#recordedMs += recorded.endMs - recorded.startMs;
    this.#replayedMs += replayed.endMs - replayed.startMs;
  }

  /** Returns the time until which a read is repeated that was recorded at `recordedMs` and is made at `nowMs`. */
  deadline(recordedMs: number, nowMs: number): number {
    const slowness = Math.min(MAX_SLOWNESS, Math.max(1, this.#replayedMs / this.#recordedMs));
    return Math.max(nowMs, recordedMs + this.#lagMs) + SETTLE_MS * slowness;
  }
}
