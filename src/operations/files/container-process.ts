import {readFile} from 'node:fs/promises';
import {posix} from 'node:path';
import {hasErrno, SystemError, unlessRoot} from '../../base/errors.js';
import {systemErrorMessage} from '../../base/system-error-message.js';
import {identifyProcess} from '../../base/process-identity.js';
import type {ContainerId, ContainerStatusResponse, RuntimeService} from '../../cri/index.js';
import type {Json} from '../../format/json.js';
import {inspectContainer} from '../inspect/inspect-objects.js';
import {at, factsOf, parseContainerInfo, text} from '../inspect/verbose-info.js';

/** A container in messages, and its ID. */
export interface ContainerTarget {
  readonly id: ContainerId;
  readonly title: string;
}

/** Containerd's names of the shims whose containers are processes of this machine. */
const PROCESS_SHIMS = /^(|io\.containerd\.(runc\..*|runtime\.v1\.linux))$/;

/**
 * Calls `use` with the PID of the main process of a running container, and returns its result if the PID was that of
 * this container during the call: the process belongs to a cgroup of the container, and both the runtime and the kernel
 * still report the same process afterwards. Resolves with undefined if the container does not run. What `use` returns
 * must not depend on the PID afterwards. Rejects with KcriError.
 */
export async function withContainerProcess<T extends AsyncDisposable>(
  runtime: RuntimeService,
  {id, title}: ContainerTarget,
  signal: AbortSignal,
  use: (pid: number, status: ContainerStatusResponse) => Promise<T>,
): Promise<T | undefined> {
  const status = await inspectContainer(runtime, id, {verbose: true, signal});
  const pid = runningPid(status);
  if (pid === undefined) return undefined;
  requireProcessShim(status, title);
  const identity = await identifyProcess(pid);
  if (identity === undefined || !(await isOfContainer(pid, id))) throw foreignProcessError(title, pid);
  const result = await use(pid, status);
  const after = await inspectContainer(runtime, id, {verbose: true, signal}).catch(async (error: unknown) => {
    await result[Symbol.asyncDispose]();
    throw error;
  });
  if (runningPid(after) === pid && (await identifyProcess(pid)) === identity) return result;
  await result[Symbol.asyncDispose]();
  throw new SystemError(`the container "${title}" has stopped or restarted`, {hint: 'try again'});
}

/** Returns the PID of a running container; undefined if it does not run. */
export function runningPid({status, info}: ContainerStatusResponse): number | undefined {
  return status?.state === 'CONTAINER_RUNNING' ? parseContainerInfo(info).pid : undefined;
}

/** Returns the destinations of the mounts of a container other than its root filesystem, as far as they are known. */
export function mountDestinations({info}: ContainerStatusResponse): readonly string[] {
  const mounts = at(factsOf(info), 'runtimeSpec', 'mounts');
  if (!Array.isArray(mounts)) return [];
  return (mounts as readonly Json[])
    .map((mount) => posix.resolve('/', text(at(mount, 'destination'))))
    .filter((destination) => destination !== '/');
}

function requireProcessShim({info}: ContainerStatusResponse, title: string): void {
  const shim = text(at(factsOf(info), 'runtimeType'));
  if (PROCESS_SHIMS.test(shim)) return;
  throw new SystemError(
    `the files of the container "${title}" are not visible on this machine: it runs in ${shim}`,
    {
      hint: `use "kcri exec" and a program of the container, such as tar`,
    },
  );
}

/** Reports whether the process is in a cgroup of the container, as containerd, CRI-O and Docker name them. */
async function isOfContainer(pid: number, id: ContainerId): Promise<boolean> {
  try {
    return (await readFile(`/proc/${pid}/cgroup`, 'utf8')).includes(id);
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ESRCH')) return false;
    throw error;
  }
}

function foreignProcessError(title: string, pid: number): SystemError {
  return new SystemError(`the process ${pid} of the container "${title}" is not visible here`, {
    hint: 'run kcri on the machine of the container, outside of any container',
  });
}

/** Creates the error for a file of /proc that only root can open. */
export function processError(title: string, cause: unknown): unknown {
  if (!hasErrno(cause, 'EACCES', 'EPERM')) return cause;
  return new SystemError(
    `opening the root filesystem of the container "${title}": ${systemErrorMessage(cause)}`,
    {
      cause,
      hint: unlessRoot(
        'run as root: the kernel lets only root open the root filesystem of another process',
        'root needs CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH to open the root filesystem of another process',
      ),
    },
  );
}
