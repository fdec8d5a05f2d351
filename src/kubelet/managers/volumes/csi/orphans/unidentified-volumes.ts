import {join} from 'node:path';
import {rethrowUnexpected} from '../../../../../base/errors.js';
import {removeAbandonedFiles} from '../../../../../base/fs/atomic-write.js';
import {listDirectoryNames} from '../../../../../base/fs/files.js';
import type {NodeFacts} from '../../../../contract/node-facts.js';
import {POD_DEVICES} from '../../block/block-paths.js';
import {blockPaths, blocksDir, stagedDir} from '../csi-paths.js';
import {removeIfEmpty} from '../mount-directory.js';

/** Directories for the staging and publishing of all block volumes, beside those of each. */
const SHARED: ReadonlySet<string> = new Set(['staging', 'publish']);

/**
 * Removes the directories of volumes that a killed process had only begun to stage, or had just unstaged: they have no file with
 * the identity of a volume. Only empty ones are removed, and nothing that is mounted. Reports a directory that cannot be removed,
 * and goes on with the others. Rejects with SystemError if the directories cannot be listed.
 */
export async function removeUnidentified(
  node: Pick<NodeFacts, 'rootDir'>,
  onFailure: (error: unknown, directory: string) => void,
): Promise<void> {
  const attempt = async (directory: string, remove: () => Promise<void>): Promise<void> => {
    try {
      await remove();
    } catch (error) {
      rethrowUnexpected(error);
      onFailure(error, directory);
    }
  };
  for (const name of await listDirectoryNames(blocksDir(node))) {
    if (SHARED.has(name)) continue;
    const {directory, devices, data} = blockPaths(node, name);
    await attempt(directory, async () => {
      await removeEmpty(data);
      await removeIfEmpty(devices);
      await removeIfEmpty(directory);
    });
  }
  for (const driver of await listDirectoryNames(stagedDir(node))) {
    if (driver === POD_DEVICES) continue;
    for (const name of await listDirectoryNames(join(stagedDir(node), driver))) {
      const directory = join(stagedDir(node), driver, name);
      await attempt(directory, async () => {
        await removeIfEmpty(join(directory, 'globalmount'));
        await removeEmpty(directory);
      });
    }
  }
}

/** Removes a directory in which there is nothing but half of an identity. */
async function removeEmpty(directory: string): Promise<void> {
  await removeAbandonedFiles(directory);
  await removeIfEmpty(directory);
}
