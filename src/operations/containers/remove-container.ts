import type {ContainerId, RuntimeService} from '../../cri/index.js';
import type {RemovedContainer} from '../logs/remove-log-files.js';
import {StillRunningError} from '../still-running-error.js';
import {withContext} from '../with-context.js';
import {stopContainer} from './stop-container.js';

/** Options of removeContainer. */
export interface RemoveContainerOptions {
  /** Name or ID of the container as the user gave it, for messages. */
  readonly shown: string;
  /** Kills a running container first. */
  readonly force: boolean;
  /** Called after a running container was killed. */
  readonly onStopped?: () => void;
  /** Called after the container is removed; its log files still exist. */
  readonly onRemoved: (container: RemovedContainer) => Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * Removes a container. Kills a running container first if `force` is set, and rejects with StillRunningError
 * otherwise.
 */
export async function removeContainer(
  runtime: RuntimeService,
  containerId: ContainerId,
  {shown, force, onRemoved, onStopped, signal}: RemoveContainerOptions,
): Promise<void> {
  const pending = runtime.containerStatus({containerId}, {signal});
  const {status} = await withContext(`getting container status "${shown}"`, pending);
  if (status?.state === 'CONTAINER_RUNNING') {
    if (!force) throw new StillRunningError(`container "${shown}"`);
    await stopContainer(runtime, containerId, {shown, gracePeriodSeconds: 0, signal});
    onStopped?.();
  }
  await withContext(`removing container "${shown}"`, runtime.removeContainer({containerId}, {signal}));
  const {logPath = '', createdAt = 0n} = status ?? {};
  await onRemoved({shown, logPath, createdAt});
}
