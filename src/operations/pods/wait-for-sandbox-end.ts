import type {Clock} from '../../base/clock.js';
import {isNotFound, isUnavailable, type PodSandboxId, type RuntimeService} from '../../cri/index.js';

/** Polling interval in milliseconds. Polling works with all runtimes, unlike events. */
const POLL_INTERVAL_MS = 2000;

/** Way in which a sandbox ended. */
export type SandboxEnd = 'removed' | 'stopped';

/**
 * Waits until a sandbox is no longer ready. Ignores that the runtime is unavailable. Rejects with the signal's
 * reason, or with KcriError.
 */
export async function waitForSandboxEnd(
  runtime: RuntimeService,
  podSandboxId: PodSandboxId,
  {clock, signal}: {readonly clock: Clock; readonly signal: AbortSignal},
): Promise<SandboxEnd> {
  for (;;) {
    await clock.sleep(POLL_INTERVAL_MS, signal);
    try {
      const {status} = await runtime.podSandboxStatus({podSandboxId}, {signal});
      if (status?.state === 'SANDBOX_NOTREADY') return 'stopped';
    } catch (error) {
      if (isNotFound(error)) return 'removed';
      if (!isUnavailable(error)) throw error;
    }
  }
}
