import {readdir, unlink} from 'node:fs/promises';
import {basename, dirname, join} from 'node:path';
import {hasErrno} from '../../base/errors.js';
import {systemReason} from '../../base/system-reason.js';
import type {GoneContainer} from '../../operations/container-logs.js';

/**
 * Deletes whatever has a container's log path, and whatever begins with that and a dot, as crictl does; `complain` is
 * told of each file that could not be.
 */
export async function crictlRemoveLogs(
  {shown, logPath}: GoneContainer,
  complain: (text: string) => void,
): Promise<void> {
  if (logPath === '') return;
  for (const file of [...(await rotations(logPath)), logPath]) {
    try {
      await unlink(file);
    } catch (error) {
      const reason = `remove ${file}: ${systemReason(error)}`;
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
