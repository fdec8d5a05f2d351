import {SystemError} from '../base/errors.js';
import {acquireLock} from '../base/lock.js';

/** Whose turn it is and how to wait for it. */
export interface Turn {
  /** The lock's path. */
  readonly lockFile: string;
  /** Told when there is somebody to wait for. */
  readonly progress?: (step: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/** Runs `act` while nobody else, in any process, runs something under the same lock. */
export async function exclusively<T>({lockFile, progress, signal}: Turn, act: () => Promise<T>): Promise<T> {
  const lock = await acquireLock(lockFile, {
    signal,
    onWait: (pid) => progress?.(`waiting for process ${pid}, which works on the same`),
  });
  try {
    return await act();
  } finally {
    await lock[Symbol.asyncDispose]();
  }
}

/** Throws SystemError, naming what needs it, unless this process runs as root. */
export function requireRoot(what: string): void {
  if (process.getuid?.() === 0) return;
  throw new SystemError(`${what} needs root`, {hint: 'run the command as root, for example with sudo'});
}
