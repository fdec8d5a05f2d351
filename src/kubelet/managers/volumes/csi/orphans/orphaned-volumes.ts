import {join} from 'node:path';
import {isExpectedError} from '../../../../../base/errors.js';
import {isPathSegment, listDirectoryNames} from '../../../../../base/fs/files.js';
import {podDir} from '../../../../contract/node-facts.js';
import type {NodeManagerServices} from '../../../../contract/node-manager.js';
import type {CsiVolumes} from '../../../../contract/volumes/csi-volumes.js';
import {listPodCsiVolumes} from '../volume-data.js';

type Services = Pick<NodeManagerServices, 'node' | 'logger' | 'allSourcesReady' | 'readRunning' | 'hasPod'>;

/**
 * Unmounts the CSI volumes in directories of pods that no source has and of which no container runs, as a kubelet does with what
 * it finds on the disk (reconstructVolumes): otherwise they could never be detached. Resolves with true when that is done, and
 * with false to be called again. Rejects with CriError.
 */
export async function unmountOrphanedVolumes(
  {node, logger, allSourcesReady, readRunning, hasPod}: Services,
  volumes: Pick<CsiVolumes, 'unmountPod'>,
  signal: AbortSignal,
): Promise<boolean> {
  if (!allSourcesReady()) return false;
  const uids: string[] = [];
  for (const uid of await listDirectoryNames(join(node.rootDir, 'pods')))
    if (isPathSegment(uid) && !hasPod(uid) && (await listPodCsiVolumes(podDir(node, uid))).length > 0)
      uids.push(uid);
  if (uids.length === 0) return true;
  const running = new Set([...(await readRunning(signal))].map((key) => key.slice(0, key.indexOf('/'))));
  // A source may have added a pod meanwhile, which then mounts its volumes.
  const orphaned = uids.filter((uid) => !running.has(uid) && !hasPod(uid));
  const log = logger.forFile('orphaned-volumes.ts');
  const results = await Promise.all(
    orphaned.map(async (podUID) => {
      log.info('Cleaning up the CSI volumes of an orphaned pod', {podUID});
      try {
        await volumes.unmountPod(podDir(node, podUID), podUID, signal, () => hasPod(podUID));
        return true;
      } catch (error) {
        signal.throwIfAborted();
        if (!isExpectedError(error)) throw error;
        log.error(error, 'Orphaned pod found, but its volumes could not be unmounted', {podUID});
        return false;
      }
    }),
  );
  return results.every((isDone) => isDone);
}
