import {readdir, rm} from 'node:fs/promises';
import {basename, dirname, isAbsolute, join} from 'node:path';
import {hasErrno, KcriError, messageOf, SystemError} from '../base/errors.js';
import type {ContainerId, PodSandboxId, RuntimeService} from '../cri/index.js';
import {stopContainer, stopSandbox} from './stop.js';
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
  /** Leave its log files alone. */
  readonly keepLogs: boolean;
}

/**
 * Removes a container and, on this machine's file system, its log with rotations. A running one is killed
 * with `force` and refused without (StillRunningError). A log that can't be deleted is a SystemError; the
 * container is gone then.
 */
export async function removeContainer(
  runtime: RuntimeService,
  containerId: ContainerId,
  {shown, force, keepLogs, onStopped, signal}: RemoveContainerOptions,
): Promise<void> {
  const asked = runtime.containerStatus({containerId}, {signal});
  const {status} = await withContext(`getting container status "${shown}"`, asked);
  if (status?.state === 'CONTAINER_RUNNING') {
    if (!force) throw stillRunning(`container "${shown}"`);
    await stopContainer(runtime, containerId, {shown, gracePeriodSeconds: 0, signal});
    onStopped?.();
  }
  await withContext(`removing container "${shown}"`, runtime.removeContainer({containerId}, {signal}));
  if (!keepLogs && status !== undefined) await removeLogs(status.logPath, shown);
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
    await stopSandbox(runtime, podSandboxId, {shown, signal});
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

async function removeLogs(logPath: string, shown: string): Promise<void> {
  if (!isAbsolute(logPath)) return;
  try {
    const folder = dirname(logPath);
    const rotated = (await readdir(folder)).filter((name) => name.startsWith(`${basename(logPath)}.`));
    await Promise.all(
      [logPath, ...rotated.map((name) => join(folder, name))].map((file) => rm(file, {force: true})),
    );
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return;
    throw new SystemError(`removing the logs of container "${shown}": ${messageOf(error)}`, {
      cause: error,
      hint: 'the container is removed; --keep-logs leaves logs alone',
    });
  }
}
