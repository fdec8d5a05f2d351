import {KcriError} from '../base/errors.js';
import type {ContainerId, PodSandboxId, RuntimeService} from '../cri/index.js';
import type {GoneContainer} from './container-logs.js';
import {stopContainer} from './stop.js';
import {withContext} from './with-context.js';

/** What must not be removed while it runs. */
export class StillRunningError extends KcriError {
  readonly code = 'STILL_RUNNING';
}

/** How something is removed; `shown` is what the user called it. */
export interface RemoveOptions {
  readonly shown: string;
  /** Stop it first when it runs. */
  readonly force: boolean;
  /** Called when it had to be stopped, once it is. */
  readonly onStopped?: () => void;
  readonly signal: AbortSignal;
}

/** How a container is removed. */
export interface RemoveContainerOptions extends RemoveOptions {
  /** Called when it is gone; its logs are still there. */
  readonly onRemoved: (container: GoneContainer) => Promise<void>;
}

/** Removes a container. A running one is killed with `force` and refused without (StillRunningError). */
export async function removeContainer(
  runtime: RuntimeService,
  containerId: ContainerId,
  {shown, force, onRemoved, onStopped, signal}: RemoveContainerOptions,
): Promise<void> {
  const asked = runtime.containerStatus({containerId}, {signal});
  const {status} = await withContext(`getting container status "${shown}"`, asked);
  if (status?.state === 'CONTAINER_RUNNING') {
    if (!force) throw stillRunning(`container "${shown}"`);
    await stopContainer(runtime, containerId, {shown, gracePeriodSeconds: 0, signal});
    onStopped?.();
  }
  await withContext(`removing container "${shown}"`, runtime.removeContainer({containerId}, {signal}));
  const {logPath = '', createdAt = 0n} = status ?? {};
  await onRemoved({shown, logPath, createdAt});
}

/** Removes a sandbox with its containers. A ready one is stopped with `force` and refused without. */
export async function removeSandbox(
  runtime: RuntimeService,
  podSandboxId: PodSandboxId,
  {shown, force, onStopped, signal}: RemoveOptions,
): Promise<void> {
  const asked = runtime.podSandboxStatus({podSandboxId}, {signal});
  const {status} = await withContext(`getting sandbox status of pod "${shown}"`, asked);
  if (status?.state === 'SANDBOX_READY') {
    if (!force) throw stillRunning(`pod sandbox "${shown}"`);
    const stopped = runtime.stopPodSandbox({podSandboxId}, {signal});
    await withContext(`stopping the pod sandbox "${shown}" failed`, stopped);
    onStopped?.();
  }
  await withContext(
    `removing the pod sandbox "${shown}"`,
    runtime.removePodSandbox({podSandboxId}, {signal}),
  );
}

function stillRunning(what: string): StillRunningError {
  return new StillRunningError(`${what} is running, please stop it first`, {
    hint: 'or give --force to stop and remove it',
  });
}
