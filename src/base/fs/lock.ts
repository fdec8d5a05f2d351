import {createHash} from 'node:crypto';
import {lstatSync} from 'node:fs';
import {lstat, readlink, symlink, unlink} from 'node:fs/promises';
import {createServer} from 'node:net';
import {basename, dirname} from 'node:path';
import {systemClock, type Clock} from '../clock.js';
import {hasErrno, SystemError} from '../errors.js';
import {isProcessAlive, ownProcessIdentity, pidOf, PROCESS_IDENTITY} from '../process-identity.js';
import {fileIdentity} from './file-cache.js';
import {fileError, ifPresent, withFileErrors} from './files.js';
import {makeDirectoryPath} from './make-directory-path.js';

/** A held lock. Disposing releases it and is idempotent. */
export interface Lock extends AsyncDisposable {
  readonly path: string;
}

/** Options to wait for a lock. */
export interface LockOptions {
  /** Aborts the wait; acquireLock then rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the wait starts, and again when another process has taken the lock. */
  readonly onWait?: (holderPid: number) => void;
  readonly clock?: Clock;
}

const POLL_MS = 50;

/**
 * Acquires the lock at `path`, creating its directory if needed; waits while a live process, including this one, holds
 * it. The lock of a holder that was killed, or whose PID now belongs to another process or another boot, is broken.
 *
 * The lock is a symbolic link whose target names the holder: creating it is atomic and fails if it exists. Rejects with
 * SystemError if the link cannot be created or something else is at `path`.
 */
export async function acquireLock(path: string, options: LockOptions = {}): Promise<Lock> {
  const {signal, onWait, clock = systemClock} = options;
  const self = await ownProcessIdentity();
  let waitingFor: string | undefined;
  while (!(await take(path, self))) {
    signal?.throwIfAborted();
    const holder = await readHolder(path);
    if (holder === undefined) continue;
    if (await isProcessAlive(holder)) {
      if (holder !== waitingFor) onWait?.(pidOf(holder));
      waitingFor = holder;
    } else if (await breakLock(path)) continue;
    await clock.sleep(POLL_MS, signal);
  }
  return heldLock(path, self);
}

/** Reports whether a live process, including this one, holds the lock at `path`. Rejects with SystemError. */
export async function isLockHeld(path: string): Promise<boolean> {
  const holder = await readHolder(path);
  return holder !== undefined && (await isProcessAlive(holder));
}

/** Creates the link, and its directory if needed; returns false if the link exists. */
async function take(path: string, self: string): Promise<boolean> {
  try {
    await symlink(self, path);
    return true;
  } catch (error) {
    if (hasErrno(error, 'EEXIST')) return false;
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) {
      await makeDirectoryPath(dirname(path), 0o750);
      return await take(path, self);
    }
    throw fileError('taking the lock', path, error);
  }
}

function heldLock(path: string, self: string): Lock {
  let held = true;
  const link = linkIdentity(path);
  return {
    path,
    [Symbol.asyncDispose]: async () => {
      if (!held) return;
      held = false;
      // If the link was removed by hand, it may belong to another process now.
      const isOwn = link !== undefined && link === linkIdentity(path);
      if (isOwn || (await readHolder(path)) === self)
        await withFileErrors('releasing the lock', path, () => ifPresent(() => unlink(path)));
    },
  };
}

/**
 * Returns the identity of a link. Asked on this thread, since another takes longer than the answer, which the kernel has from the
 * creation.
 */
function linkIdentity(path: string): string | undefined {
  const link = lstatSync(path, {bigint: true, throwIfNoEntry: false});
  return link && fileIdentity(link);
}

const HOLDER = new RegExp(`^${PROCESS_IDENTITY.source}$`);

/** Returns the identity of the holder, or undefined if the lock is free. */
async function readHolder(path: string): Promise<string | undefined> {
  const target = await ifPresent(() => readlink(path)).catch((error: unknown) => {
    if (hasErrno(error, 'EINVAL')) return '';
    throw fileError('reading the lock', path, error);
  });
  if (target === undefined || HOLDER.test(target)) return target;
  throw new SystemError(`${JSON.stringify(path)} is not a lock`, {hint: 'move it away'});
}

/**
 * Removes the link of a dead holder; returns false if another process is doing so. The guard ensures that the link that
 * was read is the link that is removed.
 */
async function breakLock(path: string): Promise<boolean> {
  const guard = await takeGuard(path);
  if (guard === undefined) return false;
  try {
    const holder = await readHolder(path);
    if (holder !== undefined && !(await isProcessAlive(holder)))
      await withFileErrors('breaking the lock', path, () => unlink(path));
    return true;
  } finally {
    guard.close();
  }
}

/** Binds an abstract socket: the kernel gives a name to one process at a time and releases it when the process dies. */
async function takeGuard(path: string): Promise<{close(): void} | undefined> {
  const directory = await lstat(dirname(path), {bigint: true});
  const name = createHash('sha256')
    .update(`${directory.dev}:${directory.ino}:${basename(path)}`)
    .digest('hex');
  const server = createServer();
  return await new Promise((resolve, reject) => {
    server.once('error', (error) => {
      if (hasErrno(error, 'EADDRINUSE')) resolve(undefined);
      else reject(fileError('breaking the lock', path, error));
    });
    server.listen({path: `\0kcri-lock-${name}`}, () => {
      resolve(server);
    });
  });
}
