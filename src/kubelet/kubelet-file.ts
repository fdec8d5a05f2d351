import {readFile, unlink} from 'node:fs/promises';
import {ifPresent, withFileErrors, writeFileAtomic} from '../base/files.js';
import {isLockHeld} from '../base/lock.js';

/** What a running daemon says of itself to other kcris. */
export interface RunningKubelet {
  readonly pid: number;
  /** RFC 3339. */
  readonly startedAt: string;
  /** The runtime's. */
  readonly endpoint: string;
  /** Of its HTTP servers by name, such as `https://127.0.0.1:10250`; without those that it doesn't have. */
  readonly urls: Readonly<Record<string, string>>;
}

/** Held by a daemon as long as it runs with the root directory. */
export function kubeletLock(rootDir: string): string {
  return `${rootDir}/locks/__kubelet.lock`;
}

const fileOf = (rootDir: string): string => `${rootDir}/kubelet.json`;

/** Writes it for other kcris; to be called by who holds the lock. Disposing removes it. Rejects with SystemError. */
export async function publishKubelet(rootDir: string, kubelet: RunningKubelet): Promise<AsyncDisposable> {
  const path = fileOf(rootDir);
  await writeFileAtomic(path, `${JSON.stringify(kubelet, undefined, 2)}\n`, 0o600);
  return {
    [Symbol.asyncDispose]: async () => {
      await withFileErrors('removing', path, () => ifPresent(() => unlink(path)));
    },
  };
}

/**
 * The daemon that runs with the root directory; undefined when there is none, whatever one that was killed has left.
 * Rejects with SystemError.
 */
export async function findKubelet(rootDir: string): Promise<RunningKubelet | undefined> {
  if (!(await isLockHeld(kubeletLock(rootDir)))) return undefined;
  const path = fileOf(rootDir);
  const text = await withFileErrors('reading', path, () => ifPresent(() => readFile(path, 'utf8')));
  return text === undefined ? undefined : (JSON.parse(text) as RunningKubelet);
}
