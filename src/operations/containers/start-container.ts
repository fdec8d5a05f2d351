import type {ContainerId, RuntimeService} from '../../cri/index.js';
import {withRequiredId} from '../with-required-id.js';

/** Options of startContainer. */
export interface StartContainerOptions {
  /** Name or ID of the container as the user gave it, for messages. */
  readonly shown: string;
  readonly signal: AbortSignal;
}

/** Starts a created container. Rejects with KcriError. */
export async function startContainer(
  runtime: RuntimeService,
  containerId: ContainerId,
  {shown, signal}: StartContainerOptions,
): Promise<void> {
  await withRequiredId(`starting the container "${shown}"`, containerId, () =>
    runtime.startContainer({containerId}, {signal}),
  );
}
