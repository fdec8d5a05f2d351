import {stat} from 'node:fs/promises';
import {dirname} from 'node:path';
import {UsageError} from '../../../base/errors.js';
import {writeUserFile} from '../../../base/fs/atomic-write.js';
import {ifPresent, withFileErrors, withUserFileHints} from '../../../base/fs/files.js';

/** Mode of the file: the program that reads it may run as another user. */
const FILE_MODE = 0o644;

/** Rejects with UsageError or SystemError if no file can be written to the path, before anything is changed. */
export async function requireJunitPath(path: string): Promise<void> {
  await withUserFileHints(async () => {
    const directory = dirname(path);
    const parent = await withFileErrors('checking', directory, () => ifPresent(() => stat(directory)));
    if (parent?.isDirectory() !== true)
      throw new UsageError(`invalid --junit "${path}": "${directory}" is not a directory`);
    const found = await withFileErrors('checking', path, () => ifPresent(() => stat(path)));
    if (found?.isDirectory() === true)
      throw new UsageError(`invalid --junit "${path}": it is a directory`, {hint: 'name a file'});
  });
}

/** Writes the results of a sync. Rejects with SystemError. */
export async function writeJunit(path: string, xml: string): Promise<void> {
  await withUserFileHints(async () => {
    await writeUserFile(path, xml, FILE_MODE);
  });
}
