import {SystemError} from '../../base/errors.js';
import {acquireLock} from '../../base/fs/lock.js';

/** Options of withLock. */
export interface WithLockOptions {
  /** Path of the lock. */
  readonly lockFile: string;
  /** Called when another process holds the lock. */
  readonly onProgress?: (step: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/** Runs `act` while holding the lock, which excludes other processes and callers. */
export async function withLock<T>(
  {lockFile, onProgress, signal}: WithLockOptions,
  act: () => Promise<T>,
): Promise<T> {
  const lock = await acquireLock(lockFile, {
    signal,
    onWait: (pid) => onProgress?.(`waiting for process ${pid} to release the lock`),
  });
  try {
    return await act();
  } finally {
    await lock[Symbol.asyncDispose]();
  }
}

/** Throws SystemError that names what needs root, unless this process runs as root. */
export function requireRoot(what: string): void {
  if (process.getuid?.() === 0) return;
  throw new SystemError(`${what} requires root`, {hint: 'run the command as root, for example with sudo'});
}
