import {createHash} from 'node:crypto';
import {lstat, readFile, readlink, symlink, unlink} from 'node:fs/promises';
import {createServer} from 'node:net';
import {basename, dirname} from 'node:path';
import {bootId} from './boot-id.js';
import {systemClock, type Clock} from './clock.js';
import {hasErrno, SystemError} from './errors.js';
import {fileError, ifPresent, withFileErrors} from './files.js';
import {makeDirectoryPath} from './make-directory-path.js';

/** A held lock. Disposing releases it; twice is fine. */
export interface Lock extends AsyncDisposable {
  readonly path: string;
}

/** How to wait for a lock. */
export interface LockOptions {
  /** Ends the wait; acquireLock then rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** Called when a wait begins, and again when the lock has gone to another process. */
  readonly onWait?: (holderPid: number) => void;
  readonly clock?: Clock;
}

const POLL_MS = 50;

/**
 * Takes the lock at `path`, whose directory is made when it is missing; waits while a live process holds it, this one included.
 * A holder that was killed, or whose pid has gone to another process or another boot, holds nothing.
 *
 * The lock is a symbolic link whose target tells the holder: it comes into being whole, and only when absent.
 * Rejects with SystemError when the link can't be made or something else is at `path`.
 */
export async function acquireLock(path: string, options: LockOptions = {}): Promise<Lock> {
  const {signal, onWait, clock = systemClock} = options;
  const self = await identifySelf();
  await makeDirectoryPath(dirname(path), 0o750);
  let waitingFor: string | undefined;
  while (!(await take(path, self))) {
    signal?.throwIfAborted();
    const holder = await readHolder(path);
    if (holder === undefined) continue;
    if (await isAlive(holder)) {
      if (holder !== waitingFor) onWait?.(pidOf(holder));
      waitingFor = holder;
    } else if (await breakLock(path)) continue;
    await clock.sleep(POLL_MS, signal);
  }
  return heldLock(path, self);
}

/** True while a live process, this one included, holds the lock at `path`. Rejects with SystemError. */
export async function isLockHeld(path: string): Promise<boolean> {
  const holder = await readHolder(path);
  return holder !== undefined && (await isAlive(holder));
}

let ownIdentity: string | undefined;

async function identifySelf(): Promise<string> {
  ownIdentity ??= await identify(process.pid);
  if (ownIdentity === undefined) throw new SystemError('reading "/proc/self/stat": /proc is not mounted');
  return ownIdentity;
}

/** Makes the link; false when there is one. */
async function take(path: string, self: string): Promise<boolean> {
  try {
    await symlink(self, path);
    return true;
  } catch (error) {
    if (hasErrno(error, 'EEXIST')) return false;
    throw fileError('taking the lock', path, error);
  }
}

function heldLock(path: string, self: string): Lock {
  let held = true;
  return {
    path,
    [Symbol.asyncDispose]: async () => {
      if (!held) return;
      held = false;
      // Somebody may have removed the link by hand, and another process have made its own.
      if ((await readHolder(path)) === self)
        await withFileErrors('releasing the lock', path, () => ifPresent(() => unlink(path)));
    },
  };
}

const HOLDER = /^(\d+)@\d+@[0-9a-f-]+$/;

/** Who holds the lock, or undefined when nobody does any more. */
async function readHolder(path: string): Promise<string | undefined> {
  const target = await ifPresent(() => readlink(path)).catch((error: unknown) => {
    if (hasErrno(error, 'EINVAL')) return '';
    throw fileError('reading the lock', path, error);
  });
  if (target === undefined || HOLDER.test(target)) return target;
  throw new SystemError(`${JSON.stringify(path)} is in the way of a lock`, {hint: 'move it away'});
}

function pidOf(holder: string): number {
  return Number(HOLDER.exec(holder)?.[1]);
}

/** `pid@start time@boot`: never the same for two processes. Undefined when there is no such process. */
async function identify(pid: number): Promise<string | undefined> {
  const stat = await readProcess(`/proc/${pid}/stat`);
  // The second field is the program's name, which may hold anything; start time is the twenty-second.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, startTime] = [fields?.[0], fields?.[19]];
  if (state === undefined || startTime === undefined || ENDED_STATES.has(state)) return undefined;
  return `${pid}@${startTime}@${bootId()}`;
}

/** A killed process that its parent hasn't waited for holds nothing any more. */
const ENDED_STATES: ReadonlySet<string> = new Set(['Z', 'X', 'x']);

async function readProcess(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ESRCH')) return undefined;
    throw fileError('reading', path, error);
  }
}

async function isAlive(holder: string): Promise<boolean> {
  return (await identify(pidOf(holder))) === holder;
}

/**
 * Removes the link of a dead holder; false when another process is just doing so. Only under the guard is it certain
 * that the link which was looked at is the link that goes: a dead holder doesn't remove its link, and nobody else may.
 */
async function breakLock(path: string): Promise<boolean> {
  const guard = await takeGuard(path);
  if (guard === undefined) return false;
  try {
    const holder = await readHolder(path);
    if (holder !== undefined && !(await isAlive(holder)))
      await withFileErrors('breaking the lock', path, () => unlink(path));
    return true;
  } finally {
    guard.close();
  }
}

/** An abstract socket: the kernel gives its name to one process at a time and takes it back when that one dies. */
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
