import {anySignal} from '../../base/async/any-signal.js';
import {createDeadline} from '../../base/async/deadline.js';
import {WakeableSleep} from '../../base/async/wakeable-sleep.js';
import {KcriError} from '../../base/errors.js';
import {formatDuration} from '../../format/duration.js';
import type {ConnectionContext, EnvironmentContext, SignalContext} from '../../cli/command/contexts.js';
import {EXIT} from '../../cli/process/exit-codes.js';
import type {RuntimeService} from '../../cri/index.js';

/** Interval at which pods are read, in ms; events of the runtime shorten it. */
export const POLL_MS = 500;

/** A target did not meet the condition in time. */
export class WaitTimeoutError extends KcriError {
  readonly code = 'WAIT_TIMEOUT';
  override readonly exitCode = EXIT.timedOut;
}

/** The condition can no longer be met. */
export class WaitFailedError extends KcriError {
  readonly code = 'WAIT_FAILED';
}

/** Means of a round to bring the next one forward, and the signal that aborts when the rounds end. */
export interface RoundWake {
  readonly sleep: WakeableSleep;
  readonly signal: AbortSignal;
}

/**
 * Runs rounds at the interval and at events of the runtime, until one resolves with true or the time limit has passed: 0 means
 * one round, undefined no limit. Rejects with the errors of rounds and the signal's reason.
 */
export async function repeatRounds(
  services: ConnectionContext & EnvironmentContext & SignalContext,
  timeoutMs: number | undefined,
  start: (wake: RoundWake) => Promise<() => Promise<boolean>>,
): Promise<void> {
  const ended = new AbortController();
  const sleep = new WakeableSleep(services.context.clock);
  using deadline = createDeadline(services.context.clock, timeoutMs);
  using working = anySignal(services.signal, ended.signal);
  using waiting = anySignal(services.signal, deadline.signal);
  try {
    const round = await start({sleep, signal: working.signal});
    // Never rejects; without events, the targets are read at the interval.
    void listen(services, sleep, ended.signal);
    for (;;) {
      // The last round begins after the time limit, so that its state is current.
      const isLast = timeoutMs === 0 || deadline.signal.aborted;
      const isDone = await round();
      services.signal.throwIfAborted();
      if (isDone || isLast) return;
      await sleep.sleep(POLL_MS, waiting.signal);
      services.signal.throwIfAborted();
    }
  } finally {
    ended.abort();
  }
}

/** Returns the beginning of the message of a WaitTimeoutError. */
export function timedOutText(timeoutMs = 0): string {
  const waited = timeoutMs === 0 ? '' : ` after ${formatDuration(BigInt(Math.round(timeoutMs * 1e6)))}`;
  return `timed out${waited} waiting for`;
}

/** Wakes the sleep at events of the default runtime. */
async function listen(
  {connections}: ConnectionContext,
  sleep: WakeableSleep,
  signal: AbortSignal,
): Promise<void> {
  const connection = await connections.default().catch(() => undefined);
  if (connection !== undefined) await wakeOnEvents(connection.runtime, sleep, signal);
}

/** Wakes the sleep at every event of the runtime until the signal aborts. Ends early if the runtime sends no events. */
async function wakeOnEvents(
  runtime: Pick<RuntimeService, 'getContainerEvents'>,
  sleep: WakeableSleep,
  signal: AbortSignal,
): Promise<void> {
  try {
    const events = runtime.getContainerEvents({}, {signal})[Symbol.asyncIterator]();
    while ((await events.next()).done !== true) sleep.wake();
  } catch {
    // Polling finds every change later.
  }
}
