import {mkdir, readdir, stat, unlink} from 'node:fs/promises';
import {join} from 'node:path';
import {ifPresent, withFileErrors} from '../../../base/fs/files.js';

/** Socket on which plugins register. */
export const REGISTRATION_SOCKET = 'kubelet.sock';
/** Checkpoint, in the directory of the sockets. */
export const CHECKPOINT = 'kubelet_internal_checkpoint';

/**
 * Makes the directory of the plugins' sockets. Sockets of earlier plugins are removed: plugins watch theirs, and register again.
 * Everything else stays (CleanupPluginDirectory). Rejects with SystemError.
 */
export async function preparePluginDirectory(directory: string): Promise<void> {
  await withFileErrors('preparing', directory, async () => {
    await mkdir(directory, {recursive: true, mode: 0o755});
    for (const name of await readdir(directory)) {
      const path = join(directory, name);
      const isSocket = await ifPresent(async () => (await stat(path)).isSocket());
      if (isSocket === true) await ifPresent(() => unlink(path));
    }
  });
}
