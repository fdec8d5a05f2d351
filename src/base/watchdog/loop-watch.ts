/** Limits of a watch in ticks of the watcher's own timer. */
export interface WatchLimits {
  /** Length of a tick, in ms. The event loop beats once in it. */
  readonly tickMs: number;
  /** Ticks without a beat after which the event loop counts as blocked. */
  readonly blockedTicks: number;
  /** Ticks without a beat after which the process ends. */
  readonly fatalTicks: number;
}

/** State of the watch after a tick. */
export interface LoopWatch {
  /** Number of beats at the last tick. */
  readonly beats: number;
  /** Ticks since the last beat. */
  readonly silentTicks: number;
}

/** Decision at a tick: `resumed` means that the event loop turns again after a block of `silentTicks`. */
export type WatchDecision =
  | {readonly kind: 'wait' | 'blocked' | 'fatal'}
  | {readonly kind: 'resumed'; readonly silentTicks: number};

/**
 * Decides at a tick of the watcher. Time is counted in its ticks, not by a clock: while the process or the machine is
 * suspended, the watcher is suspended as well.
 */
export function decideTick(
  watch: LoopWatch,
  beats: number,
  {blockedTicks, fatalTicks}: WatchLimits,
): {readonly watch: LoopWatch; readonly decision: WatchDecision} {
  if (beats !== watch.beats) {
    const {silentTicks} = watch;
    const decision: WatchDecision =
      silentTicks >= blockedTicks ? {kind: 'resumed', silentTicks} : {kind: 'wait'};
    return {watch: {beats, silentTicks: 0}, decision};
  }
  const silentTicks = watch.silentTicks + 1;
  const kind = silentTicks >= fatalTicks ? 'fatal' : silentTicks >= blockedTicks ? 'blocked' : 'wait';
  return {watch: {beats, silentTicks}, decision: {kind}};
}
