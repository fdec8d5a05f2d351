import {readdir, readFile, stat} from 'node:fs/promises';
import {basename, isAbsolute} from 'node:path';
import type {BackgroundWork} from '../../base/async/background-work.js';
import {pause} from '../../base/async/pause.js';
import type {Clock} from '../../base/clock.js';
import {rethrowUnexpected} from '../../base/errors.js';
import {KUBELET_ROOT_DIR} from '../../base/host/kubelet-root-dir.js';
import {lastFlagValue} from '../../base/host/last-flag-value.js';

/**
 * Resolves with the PID of a process named `kubelet`, other than this one, that runs with the root directory; undefined without
 * one. A kubelet takes no lock, so that its command line is all that shows it. Processes that end or that this user may not
 * read do not count.
 */
export async function findLiveKubelet(rootDir: string): Promise<number | undefined> {
  const own = await identityOf(rootDir);
  if (own === undefined) return undefined;
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  for (const pid of pids.filter((each) => each !== process.pid)) {
    const directory = kubeletRootDir(await argvOf(pid));
    // A kubelet in a container has another file system.
    if (directory !== undefined && (await identityOf(pathFor(pid, directory))) === own) return pid;
  }
  return undefined;
}

/** Period of watchLiveKubelet, in ms. */
const WATCH_INTERVAL_MS = 60_000;

/** Options of watchLiveKubelet. */
export interface WatchLiveKubeletOptions {
  readonly rootDir: string;
  readonly clock: Clock;
  readonly background: Pick<BackgroundWork, 'attempt'>;
  /** Receives the PID of a kubelet that was not there at the last check. */
  readonly onFound: (pid: number) => void;
}

/** Looks for a kubelet that comes back while kcri has its root directory, once a minute until the signal aborts. */
export async function watchLiveKubelet(
  {rootDir, clock, background, onFound}: WatchLiveKubeletOptions,
  signal: AbortSignal,
): Promise<void> {
  let last: number | undefined;
  const check = async (): Promise<void> => {
    const pid = await findLiveKubelet(rootDir);
    if (pid !== undefined && pid !== last) onFound(pid);
    last = pid;
  };
  for (;;) {
    await pause(clock, WATCH_INTERVAL_MS, signal).catch(() => undefined); // aborted
    if (signal.aborted) return;
    await background.attempt('search for a kubelet', check());
  }
}

/** Returns the root directory of the command line of a kubelet; undefined for another program. */
function kubeletRootDir([program = '', ...args]: readonly string[]): string | undefined {
  if (basename(program) !== 'kubelet') return undefined;
  return lastFlagValue(args, 'root-dir') ?? KUBELET_ROOT_DIR;
}

function pathFor(pid: number, directory: string): string {
  return isAbsolute(directory) ? `/proc/${pid}/root${directory}` : `/proc/${pid}/cwd/${directory}`;
}

async function argvOf(pid: number): Promise<readonly string[]> {
  const text = await unlessGone(() => readFile(`/proc/${pid}/cmdline`, 'utf8'));
  return text?.split('\0') ?? [];
}

async function identityOf(path: string): Promise<string | undefined> {
  const found = await unlessGone(() => stat(path, {bigint: true}));
  return found && `${found.dev}:${found.ino}`;
}

/** Resolves with undefined if the system reports an error. */
async function unlessGone<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    rethrowUnexpected(error);
    return undefined;
  }
}
