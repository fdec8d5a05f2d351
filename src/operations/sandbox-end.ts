import type {Clock} from '../base/clock.js';
import {isNotFound, isUnavailable, type PodSandboxId, type RuntimeService} from '../cri/index.js';

/** Runtimes tell nobody of a sandbox's end who does not ask; events are not to be had everywhere. */
const LOOK_EVERY_MS = 2000;

/** How a sandbox came to its end. */
export type SandboxEnd = 'removed' | 'stopped';

/**
 * Waits until a sandbox is no longer ready. A runtime that can't be reached meanwhile says nothing about it. Rejects
 * with the signal's reason, or with KcriError.
 */
export async function sandboxEnd(
  runtime: RuntimeService,
  podSandboxId: PodSandboxId,
  {clock, signal}: {readonly clock: Clock; readonly signal: AbortSignal},
): Promise<SandboxEnd> {
  for (;;) {
    await clock.sleep(LOOK_EVERY_MS, signal);
    try {
      const {status} = await runtime.podSandboxStatus({podSandboxId}, {signal});
      if (status?.state === 'SANDBOX_NOTREADY') return 'stopped';
    } catch (error) {
      if (isNotFound(error)) return 'removed';
      if (!isUnavailable(error)) throw error;
    }
  }
}
