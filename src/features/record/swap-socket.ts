import {spawn} from 'node:child_process';
import type {Stats} from 'node:fs';
import {chmod, chown, link, lstat, readFile, rename, rm} from 'node:fs/promises';
import type {Clock} from '../../base/clock.js';
import {hasErrno, SystemError} from '../../base/errors.js';
import {fileError, ifPresent, withFileErrors} from '../../base/fs/files.js';
import {acquireLock, type Lock} from '../../base/fs/lock.js';
import {swappedName} from '../../cri/endpoint.js';
import {checkRuntimeSocket, connectionError, runtimeSocketError} from './listen-path.js';

/** Pause between two looks at the runtime's path, in ms. */
const WATCH_MS = 250;

/** Paths of a swap, beside the runtime's socket. */
export interface SwapPaths {
  /** Path of the runtime's socket, which clients use. */
  readonly path: string;
  /** Second name of the runtime's own socket. */
  readonly runtime: string;
  /** Name of the recorder's socket. */
  readonly recorder: string;
  readonly lock: string;
}

function swapPaths(path: string): SwapPaths {
  return {
    path,
    runtime: swappedName(path),
    recorder: `${path}.kcri-record`,
    lock: `${path}.kcri-lock`,
  };
}

/** Returns the name that the recorder's socket has before it is renamed to the runtime's path. */
function nextName(recorder: string): string {
  return `${recorder}.next`;
}

/** Returns the paths that a recorder removes. */
function ownNames({runtime, recorder}: SwapPaths): readonly string[] {
  return [runtime, recorder, nextName(recorder)];
}

/** Line that the recorder writes to its guard when nothing is left to put back. */
const DONE = 'done\n';
/**
 * Waits for the end of its standard input, which the kernel closes if the recorder is killed, and then does what
 * `putBack` does. Only programs of POSIX and `test -ef`, which every shell has.
 */
const GUARD = `trap '' INT TERM HUP
read -r end
[ "$end" = done ] && exit 0
if [ -S "$1.kcri-runtime" ]; then
  if [ -e "$1" ] && [ -e "$1.kcri-record" ] && ! [ "$1" -ef "$1.kcri-record" ]
  then rm -f "$1.kcri-runtime"
  else mv -f "$1.kcri-runtime" "$1"
  fi
fi
rm -f "$1.kcri-record" "$1.kcri-record.next" "$1.kcri-lock"`;

/**
 * A runtime's socket in whose place a recorder's can be put. Both have a second name in the same directory, so that each
 * change of the path is one atomic rename: there is always a socket at it.
 */
export class SwappedSocket implements AsyncDisposable {
  readonly paths: SwapPaths;
  readonly #lock: Lock;
  #guard: Guard | undefined;
  /** The recorder's socket, once it is installed: its name may be removed. */
  #own: Pick<Stats, 'ino' | 'dev'> | undefined;

  private constructor(paths: SwapPaths, lock: Lock) {
    this.paths = paths;
    this.#lock = lock;
    this.#guard = startGuard(paths.path);
  }

  /**
   * Locks the socket at `path`, and puts back what a killed recorder has left, which `onRecovered` reports. Rejects with
   * SystemError if another recorder is active, or nothing listens there.
   */
  static async prepare(path: string, onRecovered: () => void): Promise<SwappedSocket> {
    const paths = swapPaths(path);
    const {uid} = await checkSocket(path);
    const lock = await lockOnce(paths);
    try {
      // Before there is a guard, which removes them.
      for (const own of ownNames(paths)) await rejectForeign(path, own, uid);
    } catch (error) {
      await lock[Symbol.asyncDispose]();
      throw error;
    }
    const swapped = new SwappedSocket(paths, lock);
    try {
      if ((await ifPresent(() => lstat(paths.runtime))) !== undefined) {
        // Without the name of the killed recorder's socket, its silence tells.
        await swapped.#putBack((await connectionError(path)) !== undefined);
        onRecovered();
      }
      await rm(paths.recorder, {force: true});
      await checkRuntimeSocket(path);
      return swapped;
    } catch (error) {
      await swapped[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Puts the recorder's socket, which already listens, in the place of the runtime's, with the same owner and mode. */
  async install(): Promise<void> {
    const {path, recorder} = this.paths;
    await withFileErrors('swapping', path, async () => {
      const {uid, gid, mode} = await lstat(path);
      this.#own = await lstat(recorder);
      await chown(recorder, uid, gid);
      await chmod(recorder, mode & 0o777);
      await this.#take();
    });
  }

  async #take(): Promise<void> {
    const {path, runtime, recorder} = this.paths;
    const next = nextName(recorder);
    await rm(runtime, {force: true});
    await link(path, runtime);
    await rm(next, {force: true});
    await link(recorder, next);
    await rename(next, path);
  }

  /**
   * Takes the path again, until the signal aborts, whenever a restarted runtime has made a new socket there. Rejects with SystemError
   * if that is impossible, as after the directory was removed.
   */
  async watch(clock: Clock, signal: AbortSignal, onTaken: () => void): Promise<void> {
    while (await sleepUnlessAborted(clock, signal)) {
      const owner = await this.#ownerOfPath();
      if (owner === 'recorder') continue;
      await this.#rejectRemoved();
      if (owner === 'runtime' && (await this.#takeUnlessRemoved())) onTaken();
    }
  }

  /** Returns false if the path or its directory was removed meanwhile. */
  async #takeUnlessRemoved(): Promise<boolean> {
    try {
      await this.#take();
      return true;
    } catch (error) {
      if (hasErrno(error, 'ENOENT')) return false;
      throw fileError('swapping', this.paths.path, error);
    }
  }

  /** Rejects with SystemError if the recorder's socket has no name left by which the path could be taken again. */
  async #rejectRemoved(): Promise<void> {
    const {path, recorder} = this.paths;
    if ((await ifPresent(() => lstat(recorder)))?.ino === this.#own?.ino) return;
    throw new SystemError(`cannot record "${path}" any more: "${recorder}" was removed`, {
      hint: `"kcri runtime down" removes it with the runtime; run "kcri record --swap" again to record a new runtime`,
    });
  }

  /** Returns whose socket is at the path; undefined if there is none. */
  async #ownerOfPath(): Promise<'recorder' | 'runtime' | undefined> {
    const {path, recorder} = this.paths;
    const there = await ifPresent(() => lstat(path));
    if (there === undefined) return undefined;
    const own = this.#own ?? (await ifPresent(() => lstat(recorder)));
    return there.ino === own?.ino && there.dev === own.dev ? 'recorder' : 'runtime';
  }

  /** Puts the runtime's socket back, unless the runtime has made a new one since. */
  async #putBack(isAbandoned = false): Promise<void> {
    const {path, runtime} = this.paths;
    await withFileErrors('putting back', path, async () => {
      if (isAbandoned || (await this.#ownerOfPath()) !== 'runtime') await rename(runtime, path);
      // What is renamed to another name of itself keeps both.
      for (const own of ownNames(this.paths)) await rm(own, {force: true});
    });
  }

  /** Puts the runtime's socket back. Open connections of the recorder are not affected. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      if ((await ifPresent(() => lstat(this.paths.runtime))) !== undefined) await this.#putBack();
      this.#guard?.dismiss();
    } finally {
      this.#guard?.release();
      this.#guard = undefined;
      await this.#lock[Symbol.asyncDispose]();
    }
  }
}

/** Waits, and returns false if the signal has aborted. */
async function sleepUnlessAborted(clock: Clock, signal: AbortSignal): Promise<boolean> {
  await clock.sleep(WATCH_MS, signal).catch(() => undefined);
  return !signal.aborted;
}

async function checkSocket(path: string): Promise<Stats> {
  const found = await lstat(path).catch((error: unknown) => {
    throw runtimeSocketError(path, error);
  });
  if (!found.isSocket()) throw new SystemError(`cannot swap "${path}": it is not a socket`);
  return found;
}

/** Rejects with SystemError if something is at `name` that no recorder has left there: those are sockets, of `uid` or of this user. */
async function rejectForeign(path: string, name: string, uid: number): Promise<void> {
  const found = await withFileErrors('reading', name, () => ifPresent(() => lstat(name)));
  if (found === undefined) return;
  if (found.isSocket() && [uid, process.geteuid?.()].includes(found.uid)) return;
  throw new SystemError(`cannot swap "${path}": "${name}" was not made by a recorder`, {
    hint: 'move it away',
  });
}

async function lockOnce({path, lock}: SwapPaths): Promise<Lock> {
  const busy = new AbortController();
  return await acquireLock(lock, {
    signal: busy.signal,
    onWait: (pid) => {
      busy.abort(
        new SystemError(`cannot swap "${path}": process ${pid} is recording it`, {
          hint: 'end that recording first',
        }),
      );
    },
  });
}

/** Process that puts the runtime's socket back if this one is killed. */
interface Guard {
  /** Ends it: there is nothing to put back. */
  dismiss(): void;
  /** Lets it put back what is left. */
  release(): void;
}

/** Starts the guard in a session of its own, which Ctrl-C does not reach. */
function startGuard(path: string): Guard {
  const guard = spawn('/bin/sh', ['-c', GUARD, 'kcri-record-guard', path], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  guard.on('error', () => undefined); // without a shell, the next recorder recovers
  guard.stdin.on('error', () => undefined);
  guard.unref();
  return {
    dismiss: () => {
      guard.stdin.write(DONE);
    },
    release: () => {
      guard.stdin.end();
    },
  };
}

/** Returns the number of connections to the socket at `path` that exist already. */
export async function countConnections(path: string): Promise<number> {
  const table = await readFile('/proc/net/unix', 'utf8').catch((error: unknown) => {
    throw fileError('reading', '/proc/net/unix', error);
  });
  return table.split('\n').filter((line) => {
    const [, , , , , state, , bound] = line.trim().split(/\s+/);
    return state === '03' && bound === path;
  }).length;
}
