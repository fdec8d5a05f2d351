import {access, lstat, readlink, unlink} from 'node:fs/promises';
import {connect} from 'node:net';
import {dirname} from 'node:path';
import {SystemError} from '../../base/errors.js';
import {ifPresent, withFileErrors} from '../../base/fs/files.js';
import {systemErrorMessage} from '../../base/system-error-message.js';
import {isRecorderTarget} from '../../cri/endpoint.js';
import {CriError} from '../../cri/errors.js';

/**
 * Removes a socket that a killed process has left at `path`. Rejects with SystemError if anything else is there, or there is no
 * such directory, for which the system's error would be that of a missing permission.
 */
export async function removeAbandonedSocket(path: string): Promise<void> {
  const directory = dirname(path);
  await withFileErrors('listening in', directory, () => access(directory));
  const found = await ifPresent(() => lstat(path));
  if (found === undefined) return;
  if (!found.isSocket()) throw new SystemError(`cannot listen on "${path}": it exists and is not a socket`);
  if ((await connectionError(path)) === undefined)
    throw new SystemError(`cannot listen on "${path}": another process listens there`);
  await unlink(path);
}

/** Rejects with SystemError if something is at the path of a recorder's link that no recorder of this user has left there. */
export async function rejectForeignLink(link: string): Promise<void> {
  await withFileErrors('reading', link, async () => {
    const found = await ifPresent(() => lstat(link));
    if (found === undefined) return;
    const isOwn = found.isSymbolicLink() && found.uid === process.geteuid?.();
    if (isOwn && isRecorderTarget(await readlink(link))) return;
    throw new SystemError(`cannot create the link "${link}": it exists and was not made by a recorder`, {
      hint: 'move it away, or listen on another path',
    });
  });
}

/** Connects to a Unix socket once, and returns why it fails; undefined if it does not. */
export async function connectionError(path: string): Promise<Error | undefined> {
  return await new Promise((resolve) => {
    const socket = connect({path});
    socket.once('connect', () => {
      socket.destroy();
      resolve(undefined);
    });
    socket.once('error', resolve);
  });
}

/** Rejects with SystemError if no runtime accepts connections at `path`. */
export async function checkRuntimeSocket(path: string): Promise<void> {
  const cause = await connectionError(path);
  if (cause === undefined) return;
  throw runtimeSocketError(path, cause);
}

/** Creates the error of a runtime's socket that is not there or does not accept connections, with the hint of a failed call. */
export function runtimeSocketError(path: string, cause: unknown): SystemError {
  const details = systemErrorMessage(cause);
  const {hint} = new CriError({
    endpoint: `unix://${path}`,
    method: 'Version',
    grpcCode: 'UNAVAILABLE',
    details,
  });
  return new SystemError(`connecting to the runtime "${path}": ${details}`, {cause, hint});
}
