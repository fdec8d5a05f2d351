import {open, unlink} from 'node:fs/promises';
import {ConfigError, hasErrno} from '../../base/errors.js';
import {withFileErrors, withUserFileHints} from '../../base/fs/files.js';
import type {ContainerId} from '../../cri/index.js';

/**
 * Creates the file for the ID of a container before anything else is done, and calls `run` with a function that writes
 * the ID. Removes the file if nothing was written. Rejects with ConfigError if it exists.
 */
export async function withCidFile(
  path: string | undefined,
  run: (write: (id: ContainerId) => Promise<void>) => Promise<void>,
): Promise<void> {
  if (path === undefined) {
    await run(() => Promise.resolve());
    return;
  }
  await using file = await createFile(path);
  const written = new Set<ContainerId>();
  try {
    await run(async (id) => {
      await withUserFileHints(() => withFileErrors('writing', path, () => file.writeFile(id)));
      written.add(id);
    });
  } finally {
    if (written.size === 0) await unlink(path).catch(() => undefined);
  }
}

async function createFile(path: string) {
  return await withUserFileHints(async () =>
    withFileErrors('creating', path, async () => {
      try {
        return await open(path, 'wx');
      } catch (error) {
        if (!hasErrno(error, 'EEXIST')) throw error;
        throw new ConfigError(`the file of --cidfile "${path}" exists already`, {
          hint: 'its container may still run: remove the file, or use another one',
        });
      }
    }),
  );
}
