import {dirname, extname, join} from 'node:path';
import {SystemError} from '../../base/errors.js';
import type {ContainerId, ContainerStatus, RuntimeService} from '../../cri/index.js';

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
