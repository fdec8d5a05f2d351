import {dirname, extname, join} from 'node:path';
import {SystemError} from '../../base/errors.js';
import {
  isNotFound,
  isUnavailable,
  type ContainerId,
  type ContainerStatus,
  type RuntimeService,
} from '../../cri/index.js';
import {withContext} from '../with-context.js';

/** The status of a container that has a log file. Throws SystemError for one without. */
export async function logPathOf(
  runtime: RuntimeService,
  containerId: ContainerId,
  signal: AbortSignal,
): Promise<ContainerStatus> {
  const answer = runtime.containerStatus({containerId}, {signal});
  const {status} = await withContext('getting container status', answer);
  if (status !== undefined && status.logPath !== '') return status;
  throw new SystemError('the container has not set log path', {
    hint: "a container has a log when its config has a log_path and its pod's a log_directory",
  });
}

/** The log of the attempt before this one, as the kubelet names it. Throws SystemError for the first attempt. */
export function previousLogPath({logPath, metadata}: ContainerStatus): string {
  const attempt = metadata?.attempt ?? 0;
  if (attempt === 0) throw new SystemError(`previous terminated container ${metadata?.name ?? ''} not found`);
  return join(dirname(logPath), `${attempt - 1}${extname(logPath)}`);
}

/** Whether more may come; also true while the runtime is away, since containers run on without it. */
export async function isRunning(
  runtime: RuntimeService,
  containerId: ContainerId,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const {status} = await runtime.containerStatus({containerId}, {signal});
    return status?.state === 'CONTAINER_RUNNING';
  } catch (error) {
    if (isNotFound(error)) return false;
    if (isUnavailable(error)) return true;
    throw error;
  }
}
