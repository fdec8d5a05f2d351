import {spawn} from 'node:child_process';
import {chmod, chown, link, lstat, readFile, rename, rm} from 'node:fs/promises';
import type {Clock} from '../../base/clock.js';
import {SystemError} from '../../base/errors.js';
import {fileError, ifPresent, withFileErrors} from '../../base/fs/files.js';
import {acquireLock, type Lock} from '../../base/fs/lock.js';
import {checkRuntimeSocket} from './listen-path.js';

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
    runtime: `${path}.kcri-runtime`,
    recorder: `${path}.kcri-record`,
    lock: `${path}.kcri-lock`,
  };
}

/**
 * Waits for the end of its standard input, which the kernel closes if the recorder is killed, and then does what
 * `putBack` does. Only programs of POSIX and `test -ef`, which every shell has.
 */
const GUARD = `trap '' INT TERM HUP
cat > /dev/null
[ -S "$1.kcri-runtime" ] || exit 0
if [ ! -e "$1" ] || [ "$1" -ef "$1.kcri-record" ]; then mv -f "$1.kcri-runtime" "$1"; else rm -f "$1.kcri-runtime"; fi
rm -f "$1.kcri-record" "$1.kcri-lock"`;

/**
 * A runtime's socket in whose place a recorder's can be put. Both have a second name in the same directory, so that each
 * change of the path is one atomic rename: there is always a socket at it.
 */
export class SwappedSocket implements AsyncDisposable {
  readonly paths: SwapPaths;
  readonly #lock: Lock;
  #guard: {end(): void} | undefined;

  private constructor(paths: SwapPaths, lock: Lock) {
    this.paths = paths;
    this.#lock = lock;
  }

  /**
   * Locks the socket at `path`, and puts back what a killed recorder has left, which `onRecovered` reports. Rejects with
   * SystemError if another recorder is active, or nothing listens there.
   */
  static async prepare(path: string, onRecovered: () => void): Promise<SwappedSocket> {
    const paths = swapPaths(path);
    await checkSocket(path);
    const swapped = new SwappedSocket(paths, await lockOnce(paths));
    try {
      if ((await ifPresent(() => lstat(paths.runtime))) !== undefined) {
        await swapped.#putBack();
        onRecovered();
      }
      await rm(paths.recorder, {force: true});
      await checkRuntimeSocket(path);
      return swapped;
    } catch (error) {
      await swapped.#lock[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Puts the recorder's socket, which already listens, in the place of the runtime's, with the same owner and mode. */
  async install(): Promise<void> {
    const {path, recorder} = this.paths;
    this.#guard = startGuard(path);
    await withFileErrors('swapping', path, async () => {
      const {uid, gid, mode} = await lstat(path);
      await chown(recorder, uid, gid);
      await chmod(recorder, mode & 0o777);
      await this.#take();
    });
  }

  async #take(): Promise<void> {
    const {path, runtime, recorder} = this.paths;
    const next = `${recorder}.next`;
    await rm(runtime, {force: true});
    await link(path, runtime);
    await rm(next, {force: true});
    await link(recorder, next);
    await rename(next, path);
  }

  /** Takes the path again, until the signal aborts, whenever a restarted runtime has made a new socket there. */
  async watch(clock: Clock, signal: AbortSignal, onTaken: () => void): Promise<void> {
    while (await sleepUnlessAborted(clock, signal)) {
      if (await this.#isAbsentOrOwn()) continue;
      await withFileErrors('swapping', this.paths.path, () => this.#take());
      onTaken();
    }
  }

  async #isAbsentOrOwn(): Promise<boolean> {
    const {path, recorder} = this.paths;
    const [there, own] = await Promise.all([ifPresent(() => lstat(path)), ifPresent(() => lstat(recorder))]);
    return there === undefined || (there.ino === own?.ino && there.dev === own.dev);
  }

  /** Puts the runtime's socket back, unless the runtime has made a new one since. */
  async #putBack(): Promise<void> {
    const {path, runtime, recorder} = this.paths;
    await withFileErrors('putting back', path, async () => {
      if (await this.#isAbsentOrOwn()) await rename(runtime, path);
      // What is renamed to another name of itself keeps both.
      await rm(runtime, {force: true});
      await rm(recorder, {force: true});
    });
  }

  /** Puts the runtime's socket back. Open connections of the recorder are not affected. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      if ((await ifPresent(() => lstat(this.paths.runtime))) !== undefined) await this.#putBack();
    } finally {
      this.#guard?.end();
      await this.#lock[Symbol.asyncDispose]();
    }
  }
}

/** Waits, and returns false if the signal has aborted. */
async function sleepUnlessAborted(clock: Clock, signal: AbortSignal): Promise<boolean> {
  await clock.sleep(WATCH_MS, signal).catch(() => undefined);
  return !signal.aborted;
}

async function checkSocket(path: string): Promise<void> {
  const found = await withFileErrors('reading', path, () => lstat(path));
  if (!found.isSocket()) throw new SystemError(`cannot swap "${path}": it is not a socket`);
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

/** Starts the guard in a session of its own, which Ctrl-C does not reach. */
function startGuard(path: string): {end(): void} {
  const guard = spawn('/bin/sh', ['-c', GUARD, 'kcri-record-guard', path], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  guard.on('error', () => undefined); // without a shell, the next recorder recovers
  guard.stdin.on('error', () => undefined);
  guard.unref();
  return {
    end: () => {
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
