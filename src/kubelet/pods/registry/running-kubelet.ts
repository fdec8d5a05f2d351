import {stateDirectory} from '../../../base/fs/state-directory.js';
import {readFile} from 'node:fs/promises';
import {removeAtomicFile, writeFileAtomic} from '../../../base/fs/atomic-write.js';
import {ifPresent, withFileErrors} from '../../../base/fs/files.js';
import {isLockHeld} from '../../../base/fs/lock.js';

/** Discovery data that a running daemon publishes for other kcri processes. */
export interface RunningKubelet {
  readonly pid: number;
  /** Start time, in RFC 3339. */
  readonly startedAt: string;
  /** Endpoint of the runtime. */
  readonly endpoint: string;
  /** URLs of the running HTTP servers by name, such as `https://127.0.0.1:10250`. */
  readonly urls: Readonly<Record<string, string>>;
}

/** Returns the path of the lock that a daemon holds while it runs with the root directory. */
export function kubeletLockPath(rootDir: string): string {
  return `${stateDirectory(rootDir)}/locks/__kubelet.lock`;
}

const fileOf = (rootDir: string): string => `${stateDirectory(rootDir)}/kubelet.json`;

/**
 * Writes the discovery data for other kcri processes; disposing the result removes it. The caller holds the kubelet
 * lock. Rejects with SystemError.
 */
export async function publishKubelet(rootDir: string, kubelet: RunningKubelet): Promise<AsyncDisposable> {
  const path = fileOf(rootDir);
  await writeFileAtomic(path, `${JSON.stringify(kubelet, undefined, 2)}\n`, 0o600);
  return {
    [Symbol.asyncDispose]: async () => {
      await removeAtomicFile(path);
    },
  };
}

/**
 * Resolves with the daemon that runs with the root directory; undefined if there is none, even if a killed daemon left
 * its file. Rejects with SystemError.
 */
export async function findKubelet(rootDir: string): Promise<RunningKubelet | undefined> {
  if (!(await isLockHeld(kubeletLockPath(rootDir)))) return undefined;
  const path = fileOf(rootDir);
  const text = await withFileErrors('reading', path, () => ifPresent(() => readFile(path, 'utf8')));
  return text === undefined ? undefined : (JSON.parse(text) as RunningKubelet);
}
