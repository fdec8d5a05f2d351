import type {PodSandboxId, RuntimeService} from '../../cri/index.js';
import {StillRunningError} from '../still-running-error.js';
import {withContext} from '../with-context.js';

/** Options of removeSandbox. */
export interface RemoveSandboxOptions {
  /** Name or ID of the sandbox as the user gave it, for messages. */
  readonly shown: string;
  /** Stops a ready sandbox first. */
  readonly force: boolean;
  /** Called after a ready sandbox was stopped. */
  readonly onStopped?: () => void;
  readonly signal: AbortSignal;
}

/**
 * Removes a PodSandbox and its containers. Stops a ready sandbox first if `force` is set, and rejects with
 * StillRunningError otherwise.
 */
export async function removeSandbox(
  runtime: RuntimeService,
  podSandboxId: PodSandboxId,
  {shown, force, onStopped, signal}: RemoveSandboxOptions,
): Promise<void> {
  const pending = runtime.podSandboxStatus({podSandboxId}, {signal});
  const {status} = await withContext(`getting sandbox status of pod "${shown}"`, pending);
  if (status?.state === 'SANDBOX_READY') {
    if (!force) throw new StillRunningError(`pod sandbox "${shown}"`);
    const stopped = runtime.stopPodSandbox({podSandboxId}, {signal});
    await withContext(`stopping the pod sandbox "${shown}" failed`, stopped);
    onStopped?.();
  }
  await withContext(
    `removing the pod sandbox "${shown}"`,
    runtime.removePodSandbox({podSandboxId}, {signal}),
  );
}
