import {constants} from 'node:fs';
import {withFile} from '../../base/files.js';
import {systemReason} from '../../base/system-reason.js';
import {hasErrno} from '../../base/errors.js';
import {parseLine, type ContainerId} from '../../cri/index.js';
import type {RuntimeContainerStatus, RuntimePodStatus} from '../container/pod-status.js';
import {CONTAINER_ANNOTATIONS} from '../kuberuntime/labels.js';
import {absoluteInContainer} from '../kuberuntime/mounts.js';

/** How much of a termination log is read, from its end. */
const MAX_MESSAGE_BYTES = 4096;
/** How much of a container's log stands in for an empty termination log. */
const MAX_LOG_LINES = 80;
const MAX_LOG_BYTES = 2048;
/** Holds that much output, however it is cut into lines. */
const LOG_CHUNK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/** A container may put anything in the place of its file: nothing is waited for, no link is followed. */
const OPEN_HOSTILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Runtimes may keep logs elsewhere and link to them. */
const OPEN_LOG = constants.O_RDONLY | constants.O_NONBLOCK;

/**
 * What the pod's exited containers left to say (kuberuntime getTerminationMessage): the end of the termination log, or
 * of the log for a container that failed, left none and asks for that. A file that can't be read is what is said.
 */
export async function readTerminationMessages({
  containers,
}: Pick<RuntimePodStatus, 'containers'>): Promise<ReadonlyMap<ContainerId, string>> {
  const exited = containers.filter(({state}) => state === 'CONTAINER_EXITED');
  const messages = await Promise.all(
    exited.map(async (container) => [container.id, await lastWords(container)] as const),
  );
  return new Map(messages.filter(([, message]) => message !== ''));
}

async function lastWords({cri}: RuntimeContainerStatus): Promise<string> {
  const {annotations, mounts} = cri;
  const path = annotations[CONTAINER_ANNOTATIONS.terminationMessagePath] ?? '';
  const inContainer = absoluteInContainer(path);
  const mount = path === '' ? undefined : mounts.find(({containerPath}) => containerPath === inContainer);
  const message = mount === undefined ? '' : await terminationLog(mount.hostPath);
  const fromLogs =
    message === '' &&
    annotations[CONTAINER_ANNOTATIONS.terminationMessagePolicy] === 'FallbackToLogsOnError' &&
    cri.exitCode !== 0 &&
    cri.reason !== 'ContainerCannotRun' &&
    cri.logPath !== '';
  return fromLogs ? await endOfLog(cri.logPath) : message;
}

async function terminationLog(path: string): Promise<string> {
  try {
    return (await readEnd(path, OPEN_HOSTILE, MAX_MESSAGE_BYTES)).toString();
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return '';
    return `Error on reading termination log ${path}: ${systemReason(error)}`;
  }
}

async function endOfLog(path: string): Promise<string> {
  try {
    return logOutput(await readEnd(path, OPEN_LOG, LOG_CHUNK_BYTES));
  } catch (error) {
    return `Error on reading termination message from logs: ${systemReason(error)}`;
  }
}

/** What the container wrote in the last lines of a log in the CRI's format; a line in parts is put together. */
function logOutput(log: Buffer): string {
  const output: Uint8Array[] = [];
  for (let end = log.lastIndexOf(NEWLINE) + 1; end > 0 && output.length < MAX_LOG_LINES;) {
    const start = end === 1 ? 0 : log.lastIndexOf(NEWLINE, end - 2) + 1;
    output.unshift(parseLine(log.subarray(start, end))?.content ?? new Uint8Array());
    end = start;
  }
  return Buffer.concat(output).subarray(-MAX_LOG_BYTES).toString();
}

/** The last bytes of a regular file; nothing of anything else. */
async function readEnd(path: string, flags: number, bytes: number): Promise<Buffer> {
  return await withFile(path, flags, 0, async (file) => {
    const stats = await file.stat();
    if (!stats.isFile()) return Buffer.alloc(0);
    const {buffer, bytesRead} = await file.read(
      Buffer.alloc(bytes),
      0,
      bytes,
      Math.max(0, stats.size - bytes),
    );
    return buffer.subarray(0, bytesRead);
  });
}
