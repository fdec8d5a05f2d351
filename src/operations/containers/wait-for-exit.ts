import type {Clock} from '../../base/clock.js';
import type {ContainerId, RuntimeService} from '../../cri/index.js';

/** Number of status calls: a runtime may close the output of a container shortly before it reports the exit. */
const MAX_ATTEMPTS = 20;
const RETRY_INTERVAL_MS = 50;

/** Returns the exit code of a container whose output has ended, or 0 if it keeps running. Rejects with CriError. */
export async function waitForExitCode(
  runtime: RuntimeService,
  containerId: ContainerId,
  {clock, signal}: {readonly clock: Clock; readonly signal: AbortSignal},
): Promise<number> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const {status} = await runtime.containerStatus({containerId}, {signal});
    if (status?.state === 'CONTAINER_EXITED') return status.exitCode;
    await clock.sleep(RETRY_INTERVAL_MS, signal);
  }
  return 0;
}

/** Options of pollForExit. */
export interface PollForExitOptions {
  readonly clock: Clock;
  /** Returns the interval of the status calls in milliseconds. */
  readonly pollMs: () => number;
  readonly signal: AbortSignal;
}

/** Waits until a container has exited and returns its exit code. Rejects with CriError and the signal's reason. */
export async function pollForExit(
  runtime: RuntimeService,
  containerId: ContainerId,
  {clock, pollMs, signal}: PollForExitOptions,
): Promise<number> {
  for (;;) {
    const {status} = await runtime.containerStatus({containerId}, {signal});
    if (status?.state === 'CONTAINER_EXITED') return status.exitCode;
    await clock.sleep(pollMs(), signal);
  }
}
