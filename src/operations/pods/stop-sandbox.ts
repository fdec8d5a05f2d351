import type {PodSandboxId, RuntimeService} from '../../cri/index.js';
import {withRequiredId} from '../with-required-id.js';

/** Options of stopSandbox. */
export interface StopSandboxOptions {
  /** Name or ID of the sandbox as the user gave it, for messages. */
  readonly shown: string;
  readonly signal: AbortSignal;
}

/** Stops a PodSandbox and all its containers. Rejects with KcriError. */
export async function stopSandbox(
  runtime: RuntimeService,
  podSandboxId: PodSandboxId,
  {shown, signal}: StopSandboxOptions,
): Promise<void> {
  await withRequiredId(`stopping the pod sandbox "${shown}"`, podSandboxId, () =>
    runtime.stopPodSandbox({podSandboxId}, {signal}),
  );
}
