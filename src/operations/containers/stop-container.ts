import {toInt64} from '../../format/go-integer.js';
import type {ContainerId, RuntimeService} from '../../cri/index.js';
import {withRequiredId} from '../with-required-id.js';

/** Options of stopContainer. */
export interface StopContainerOptions {
  /** Name or ID of the container as the user gave it, for messages. */
  readonly shown: string;
  /** Seconds between SIGTERM and SIGKILL; 0 kills at once. */
  readonly gracePeriodSeconds: number;
  readonly signal: AbortSignal;
}

/** Stops a container. The grace period extends the deadline of the call. Rejects with KcriError. */
export async function stopContainer(
  runtime: RuntimeService,
  containerId: ContainerId,
  {shown, gracePeriodSeconds, signal}: StopContainerOptions,
): Promise<void> {
  const request = {containerId, timeout: toInt64(gracePeriodSeconds)};
  await withRequiredId(`stopping the container "${shown}"`, containerId, () =>
    runtime.stopContainer(request, {signal}),
  );
}
