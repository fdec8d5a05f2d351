import {readdir, unlink} from 'node:fs/promises';
import {basename, dirname, join} from 'node:path';
import {hasErrno} from '../../base/errors.js';
import {systemErrorMessage} from '../../base/system-error-message.js';
import type {RemovedContainer} from '../../operations/logs/remove-log-files.js';

/**
 * Deletes a container's log file and all files whose names start with its name and a dot, as crictl does. Calls
 * `complain` for each file that cannot be deleted.
 */
export async function removeCrictlLogs(
  {shown, logPath}: RemovedContainer,
  complain: (text: string) => void,
): Promise<void> {
  if (logPath === '') return;
  for (const file of [...(await rotations(logPath)), logPath]) {
    try {
      await unlink(file);
    } catch (error) {
      const reason = `remove ${file}: ${systemErrorMessage(error)}`;
      complain(`removing log file ${file} for container "${shown}" failed: ${reason}`);
    }
  }
}

async function rotations(logPath: string): Promise<readonly string[]> {
  const [folder, prefix] = [dirname(logPath), `${basename(logPath)}.`];
  try {
    const names = (await readdir(folder)).filter((name) => name.startsWith(prefix)).toSorted();
    return names.map((name) => join(folder, name));
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return [];
    throw error;
  }
}
