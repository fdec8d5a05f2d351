import {
  isNotFound,
  isUnavailable,
  type ContainerId,
  type ContainerState,
  type RuntimeService,
} from '../../../cri/index.js';
import {getContainerStatus} from '../container-log.js';

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
