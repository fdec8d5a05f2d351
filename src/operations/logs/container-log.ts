import {dirname, extname, join} from 'node:path';
import {SystemError} from '../../base/errors.js';
import {
  isNotFound,
  isUnavailable,
  type ContainerId,
  type ContainerStatus,
  type RuntimeService,
} from '../../cri/index.js';

/** A container's status, as the runtime tells it. */
export async function statusOf(
  runtime: RuntimeService,
  containerId: ContainerId,
  signal: AbortSignal,
): Promise<ContainerStatus | undefined> {
  return (await runtime.containerStatus({containerId}, {signal})).status;
}

/** Where a container's log is. Throws SystemError for one without. */
export function logPathOf(status: ContainerStatus | undefined): string {
  if (status !== undefined && status.logPath !== '') return status.logPath;
  throw new SystemError('the container has not set log path', {
    hint: "a container has a log when its config has a log_path and its pod's a log_directory",
  });
}

/** The log of the attempt before this one, as the kubelet names it. Throws SystemError for the first attempt. */
export function previousLogPath({logPath, metadata}: ContainerStatus): string {
  const attempt = metadata?.attempt ?? 0;
  if (attempt > 0) return join(dirname(logPath), `${attempt - 1}${extname(logPath)}`);
  throw new SystemError(`previous terminated container ${metadata?.name ?? ''} not found`, {
    hint: 'this is its first attempt; "kcri ps -a" lists attempts',
  });
}

/** Whether more may come; also true while the runtime is away, since containers run on without it. */
export async function isRunning(
  runtime: RuntimeService,
  containerId: ContainerId,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    return (await statusOf(runtime, containerId, signal))?.state === 'CONTAINER_RUNNING';
  } catch (error) {
    if (isNotFound(error)) return false;
    if (isUnavailable(error)) return true;
    throw error;
  }
}
