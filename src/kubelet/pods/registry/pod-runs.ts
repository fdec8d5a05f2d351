import {stateDirectory} from '../../../base/fs/state-directory.js';
import {randomUUID} from 'node:crypto';
import {unlink} from 'node:fs/promises';
import {join} from 'node:path';
import {ifPresent, listNames, withFileErrors} from '../../../base/fs/files.js';
import {acquireLock, isLockHeld, type Lock} from '../../../base/fs/lock.js';
import type {PodUid} from '../../../cri/index.js';
import type {PodRecord} from './pod-store.js';
import {findKubelet} from './running-kubelet.js';

/**
 * Marks the pod as run by this `kcri sync`, which restarts its containers until the mark is disposed. Several processes
 * may run one pod. Rejects with SystemError.
 */
export async function markPodRun(rootDir: string, uid: PodUid): Promise<Lock> {
  await removeRunMarks(rootDir, uid);
  return await acquireLock(join(directoryOf(rootDir), `${prefixOf(uid)}${randomUUID()}.lock`));
}

/**
 * Reports whether a process restarts the containers of the pod: the kubelet that manages it, or a `kcri sync`. Killed
 * processes do not count. Rejects with SystemError.
 */
export async function isPodRun(
  rootDir: string,
  {uid, manager, endpoint}: Pick<PodRecord, 'uid' | 'manager' | 'endpoint'>,
): Promise<boolean> {
  if (manager === 'kubelet') return (await findKubelet(rootDir))?.endpoint === endpoint;
  for (const path of await marksOf(rootDir, uid)) if (await isLockHeld(path)) return true;
  return false;
}

/** Removes the marks that killed processes left. Rejects with SystemError. */
export async function removeRunMarks(rootDir: string, uid: PodUid): Promise<void> {
  for (const path of await marksOf(rootDir, uid))
    // Names are unique, so that a mark of a killed process is never taken again.
    if (!(await isLockHeld(path)))
      await withFileErrors('removing', path, () => ifPresent(() => unlink(path)));
}

async function marksOf(rootDir: string, uid: PodUid): Promise<readonly string[]> {
  const directory = directoryOf(rootDir);
  return (await listNames(directory))
    .filter((name) => name.startsWith(prefixOf(uid)))
    .map((name) => join(directory, name));
}

function directoryOf(rootDir: string): string {
  return join(stateDirectory(rootDir), 'locks');
}

/** Returns the start of the names of a pod's marks; names of other locks have at most one underscore before a UID. */
function prefixOf(uid: PodUid): string {
  return `__run-${uid}.`;
}
