import {rm} from 'node:fs/promises';
import {join} from 'node:path';
import {pathExists, withFile, withFileErrors} from '../../../../../base/fs/files.js';
import {makeDirectoryPath} from '../../../../../base/fs/make-directory-path.js';

/**
 * A mark in the metadata of a pod's volume, which whoever comes after a kill finds: `mounting` while the driver mounts the volume,
 * `attached` from before it was attached by the node until it is detached, `claimed` from before the pod needs the mount for all
 * pods, and `released` when it no longer needs the volume. The last two are set with the device locked.
 */
export type FlexMark = 'mounting' | 'attached' | 'claimed' | 'released';

/** Sets a mark. Rejects with SystemError. */
export async function setFlexMark(metadataDir: string, mark: FlexMark): Promise<void> {
  await makeDirectoryPath(metadataDir, 0o750);
  const path = join(metadataDir, mark);
  await withFileErrors('creating', path, () => withFile(path, 'w', 0o600, async () => undefined));
}

/** Reports whether a mark is set. Rejects with SystemError. */
export async function hasFlexMark(metadataDir: string, mark: FlexMark): Promise<boolean> {
  return await pathExists(join(metadataDir, mark));
}

/** Removes a mark. Rejects with SystemError. */
export async function removeFlexMark(metadataDir: string, mark: FlexMark): Promise<void> {
  const path = join(metadataDir, mark);
  await withFileErrors('removing', path, () => rm(path, {force: true}));
}
