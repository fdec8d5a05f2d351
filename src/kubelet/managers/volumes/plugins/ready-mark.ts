import {join} from 'node:path';
import {lstat, rm} from 'node:fs/promises';
import {ifPresent, withFile, withFileErrors} from '../../../../base/fs/files.js';
import {makeDirectoryPath} from '../../../../base/fs/make-directory-path.js';

/** Marks a volume as complete in its plugin directory. A volume without the mark, left by a killed process, is not. */
export async function markReady(readyDir: string): Promise<void> {
  await makeDirectoryPath(readyDir, 0o750);
  const path = markPath(readyDir);
  await withFileErrors('creating', path, () => withFile(path, 'w', 0o644, async () => undefined));
}

/** Reports whether the volume is marked as complete. */
export async function isMarkedReady(readyDir: string): Promise<boolean> {
  const path = markPath(readyDir);
  return (await withFileErrors('reading', path, () => ifPresent(() => lstat(path)))) !== undefined;
}

/** Removes the mark before the volume is set up again. */
export async function unmarkReady(readyDir: string): Promise<void> {
  const path = markPath(readyDir);
  await withFileErrors('removing', path, () => rm(path, {force: true}));
}

function markPath(readyDir: string): string {
  return join(readyDir, 'ready');
}
