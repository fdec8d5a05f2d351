import {constants} from 'node:fs';
import {withFile} from '../../../base/fs/files.js';
import {systemErrorMessage} from '../../../base/system-error-message.js';
import {hasErrno, messageOf, rethrowUnexpected, SystemError} from '../../../base/errors.js';
import {parseLine, type ContainerId} from '../../../cri/index.js';
import type {RuntimeContainerStatus, RuntimePodStatus} from '../../contract/runtime-pod-status.js';
import {CONTAINER_ANNOTATIONS} from '../../managers/kuberuntime/config/labels.js';
import {absoluteContainerPath} from '../../managers/kuberuntime/config/container-mounts.js';

/** Maximum bytes read from the end of a termination log. */
const MAX_MESSAGE_BYTES = 4096;
/** Maximum lines and bytes of a container's log that replace an empty termination log. */
const MAX_LOG_LINES = 80;
const MAX_LOG_BYTES = 2048;
/** Bytes read from the end of a log, enough for that output with any line lengths. */
const LOG_CHUNK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/** Open flags for files that a container can replace: never blocks, never follows a link. */
const OPEN_UNTRUSTED = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Open flags for container logs, which runtimes may store elsewhere and link to. */
const OPEN_LOG = constants.O_RDONLY | constants.O_NONBLOCK;

/**
 * Reads the termination messages of the exited containers of a pod (kuberuntime getTerminationMessage): the end of the
 * termination log, or of the container's log if the container failed, wrote no message and has the policy
 * FallbackToLogsOnError. A termination log is read once, since an exited container writes nothing more; the runtime may
 * still write the other.
 */
export class TerminationMessageReader {
  /** Final messages of the containers that had exited at the last call; empty for those without a message. */
  #known: ReadonlyMap<ContainerId, string> = new Map();

  /** Resolves with the messages that are not empty. A read error becomes the message, and the next call reads it again. */
  async read({containers}: Pick<RuntimePodStatus, 'containers'>): Promise<ReadonlyMap<ContainerId, string>> {
    const before = this.#known;
    const known = new Map<ContainerId, string>();
    const messages = new Map<ContainerId, string>();
    const exited = containers.filter(({state}) => state === 'CONTAINER_EXITED');
    const read = async (container: RuntimeContainerStatus): Promise<void> => {
      const {id} = container;
      try {
        const final = before.get(id);
        const {message, isFinal} =
          final === undefined ? await readTerminationMessage(container) : {message: final, isFinal: true};
        if (isFinal) known.set(id, message);
        if (message !== '') messages.set(id, message);
      } catch (error) {
        rethrowUnexpected(error);
        messages.set(id, messageOf(error));
      }
    };
    await Promise.all(exited.map(read));
    this.#known = known;
    return messages;
  }
}

/** Message of an exited container; final unless it comes from the log of the container. */
interface TerminationMessage {
  readonly message: string;
  readonly isFinal: boolean;
}

async function readTerminationMessage({cri}: RuntimeContainerStatus): Promise<TerminationMessage> {
  const {annotations, mounts} = cri;
  const path = annotations[CONTAINER_ANNOTATIONS.terminationMessagePath] ?? '';
  const inContainer = absoluteContainerPath(path);
  const mount = path === '' ? undefined : mounts.find(({containerPath}) => containerPath === inContainer);
  const message = mount === undefined ? '' : await terminationLog(mount.hostPath);
  const fromLogs =
    message === '' &&
    annotations[CONTAINER_ANNOTATIONS.terminationMessagePolicy] === 'FallbackToLogsOnError' &&
    cri.exitCode !== 0 &&
    cri.reason !== 'ContainerCannotRun' &&
    cri.logPath !== '';
  return fromLogs ? {message: await endOfLog(cri.logPath), isFinal: false} : {message, isFinal: true};
}

async function terminationLog(path: string): Promise<string> {
  try {
    return (await readEnd(path, OPEN_UNTRUSTED, MAX_MESSAGE_BYTES)).toString();
  } catch (cause) {
    if (hasErrno(cause, 'ENOENT')) return '';
    rethrowUnexpected(cause);
    throw new SystemError(`Error on reading termination log ${path}: ${systemErrorMessage(cause)}`, {cause});
  }
}

async function endOfLog(path: string): Promise<string> {
  try {
    return logOutput(await readEnd(path, OPEN_LOG, LOG_CHUNK_BYTES));
  } catch (cause) {
    rethrowUnexpected(cause);
    throw new SystemError(`Error on reading termination message from logs: ${systemErrorMessage(cause)}`, {
      cause,
    });
  }
}

/** Returns the output in the last lines of a CRI log; partial lines are joined. */
function logOutput(log: Buffer): string {
  const output: Uint8Array[] = [];
  for (let end = log.lastIndexOf(NEWLINE) + 1; end > 0 && output.length < MAX_LOG_LINES;) {
    const start = end === 1 ? 0 : log.lastIndexOf(NEWLINE, end - 2) + 1;
    output.unshift(parseLine(log.subarray(start, end))?.content ?? new Uint8Array());
    end = start;
  }
  return Buffer.concat(output).subarray(-MAX_LOG_BYTES).toString();
}

/** Resolves with the last bytes of a regular file; empty for any other file type. */
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
