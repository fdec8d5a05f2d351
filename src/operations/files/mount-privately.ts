import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {open, type FileHandle} from 'node:fs/promises';
import {text} from 'node:stream/consumers';
import {hasErrno, SystemError, unlessRoot} from '../../base/errors.js';
import {O_PATH, OPEN_DIRECTORY} from '../../base/fs/file-handles.js';
import {systemErrorMessage} from '../../base/system-error-message.js';
import type {MountCommand} from './mount-commands.js';

/** Filesystems that only this process sees. */
export interface PrivateMounts {
  /** Root directories, in the order of the commands, as O_PATH handles. */
  readonly roots: readonly FileHandle[];
  /** Unmounts everything and closes the handles. */
  readonly release: () => Promise<void>;
}

/**
 * Directory that every Linux system has and that contains no root filesystem. What is mounted there is visible only in
 * the mount namespace of the program below.
 */
const MOUNT_POINT = '/sys';

/**
 * Mounts filesystems on a tmpfs, prints a line and keeps them until its input ends: also when kcri is killed. The
 * kernel then removes the mount namespace with all of its mounts, so that none can be left.
 */
const SCRIPT = `
mount -t tmpfs -o size=1m,mode=700 kcri "$1" || exit 1
root=$1 count=0; shift
while [ $# -gt 0 ]; do
  mkdir "$root/$count" && cd "$1" && mount -t "$2" -o "$3" "$4" "$root/$count" || exit 1
  shift 4; count=$((count + 1))
done
echo ready
exec cat > /dev/null
`;

/** Mounts filesystems for this process only. Rejects with SystemError, and with the signal's reason. */
export async function mountPrivately(
  commands: readonly MountCommand[],
  signal: AbortSignal,
): Promise<PrivateMounts> {
  signal.throwIfAborted();
  const mounts = commands.flatMap(({directory, type, options, source}) => [
    directory,
    type,
    options.join(','),
    source,
  ]);
  const child = spawn(
    'unshare',
    ['--mount', '--propagation', 'private', 'sh', '-c', SCRIPT, 'sh', MOUNT_POINT, ...mounts],
    // Newer versions of mount limit the layers of an overlay to 256 characters unless they use the older system call.
    {stdio: ['pipe', 'pipe', 'pipe'], env: {...process.env, LC_ALL: 'C', LIBMOUNT_FORCE_MOUNT2: 'always'}},
  );
  const ended = once(child, 'close').catch(() => undefined);
  child.stdin.on('error', () => undefined);
  const stop = async (): Promise<void> => {
    child.stdin.end();
    await ended;
  };
  const errors = text(child.stderr).catch(() => '');
  const roots: FileHandle[] = [];
  const release = async (): Promise<void> => {
    for (const root of roots) await root.close();
    await stop();
  };
  try {
    const started = await Promise.race([
      once(child.stdout, 'data'),
      once(child, 'close').then(() => undefined),
    ]);
    if (started === undefined) throw mountError((await errors).trim());
    for (const index of commands.keys())
      roots.push(await open(`/proc/${child.pid}/root${MOUNT_POINT}/${index}/`, O_PATH | OPEN_DIRECTORY));
    return {roots, release};
  } catch (error) {
    await release();
    if (!hasErrno(error, 'ENOENT', 'EACCES', 'EPERM')) throw error;
    throw mountError(systemErrorMessage(error));
  }
}

function mountError(message: string): SystemError {
  return new SystemError(`mounting the root filesystem of the container: ${message}`, {
    hint: unlessRoot(
      'run as root: only root can mount filesystems',
      'the programs unshare and mount must be installed',
    ),
  });
}
