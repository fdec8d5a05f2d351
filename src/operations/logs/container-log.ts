import {dirname, extname, join} from 'node:path';
import {SystemError} from '../../base/errors.js';
import {
  isNotFound,
  isUnavailable,
  type ContainerId,
  type ContainerState,
  type ContainerStatus,
  type RuntimeService,
} from '../../cri/index.js';

/** Returns the status of a container. Rejects with CriError. */
export async function getContainerStatus(
  runtime: RuntimeService,
  containerId: ContainerId,
  signal: AbortSignal,
): Promise<ContainerStatus | undefined> {
  return (await runtime.containerStatus({containerId}, {signal})).status;
}

/** Returns the path of a container's log. Throws SystemError if it has none. */
export function logPathOf(status: ContainerStatus | undefined): string {
  if (status !== undefined && status.logPath !== '') return status.logPath;
  throw new SystemError('the container has not set log path', {
    hint: "set log_path in the container's config and log_directory in the pod's config",
  });
}

/** Returns the log of the previous attempt, as the kubelet names it. Throws SystemError for the first attempt. */
export function previousLogPath({logPath, metadata}: ContainerStatus): string {
  const attempt = metadata?.attempt ?? 0;
  if (attempt > 0) return join(dirname(logPath), `${attempt - 1}${extname(logPath)}`);
  throw new SystemError(`previous terminated container ${metadata?.name ?? ''} not found`, {
    hint: 'this is its first attempt; run "kcri ps -a" to list attempts',
  });
}

/**
 * Reports whether a container runs; true while the runtime is unavailable, since containers keep running without it.
 */
export async function isRunning(
  runtime: RuntimeService,
  containerId: ContainerId,
  signal: AbortSignal,
): Promise<boolean> {
  return (await stateOf(runtime, containerId, signal)) === 'CONTAINER_RUNNING';
}

/** Reports whether a container has exited or was removed; false while the runtime is unavailable. */
export async function hasExited(
  runtime: RuntimeService,
  containerId: ContainerId,
  signal: AbortSignal,
): Promise<boolean> {
  const state = await stateOf(runtime, containerId, signal);
  return state === 'CONTAINER_EXITED' || state === undefined;
}

/** Returns the state of a container; undefined if it was removed, running while the runtime is unavailable. */
async function stateOf(
  runtime: RuntimeService,
  containerId: ContainerId,
  signal: AbortSignal,
): Promise<ContainerState | undefined> {
  try {
    return (await getContainerStatus(runtime, containerId, signal))?.state;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    if (isUnavailable(error)) return 'CONTAINER_RUNNING';
    throw error;
  }
}
