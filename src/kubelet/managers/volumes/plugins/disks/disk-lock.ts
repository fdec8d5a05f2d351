import {createHash} from 'node:crypto';
import {join} from 'node:path';
import {acquireLock} from '../../../../../base/fs/lock.js';
import {stateDirectory} from '../../../../../base/fs/state-directory.js';
import type {NodeFacts} from '../../../../contract/node-facts.js';
import {placeText, type DiskPlace} from './disk-place.js';

/**
 * Runs `work` with something of a disk locked against other pods and processes, such as its place or its iSCSI target; the lock
 * of a place is taken before that of a target. It is not in the directory of the plugin, in which a kubelet counts the volumes of
 * a target. Rejects with the signal's reason.
 */
export async function withDiskLock<T>(
  {rootDir}: Pick<NodeFacts, 'rootDir'>,
  subject: string,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const name = createHash('sha256').update(subject).digest('hex');
  const lock = await acquireLock(join(stateDirectory(rootDir), 'disk-locks', name), {signal});
  try {
    return await work();
  } finally {
    await lock[Symbol.asyncDispose]();
  }
}

/** Runs `work` with a place locked against other pods and processes; see withDiskLock. */
export async function withPlaceLock<T>(
  {node}: {readonly node: Pick<NodeFacts, 'rootDir'>},
  place: DiskPlace,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  return await withDiskLock(node, `${place.kind} ${placeText(place)}`, signal, work);
}
