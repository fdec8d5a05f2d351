import {readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {hasErrno, SystemError} from '../../../../../base/errors.js';
import {fileError} from '../../../../../base/fs/files.js';
import {readBoundedFile} from '../../../../../base/fs/read-bounded-file.js';
import {describeExit, type RunTool} from '../../devices/disk-tools.js';

/** Longest value of a file of sysfs that is read, in bytes: a page. */
const PAGE = 4096;
/** Time limit of a write, in ms: the kernel may ask each LUN of a slow host. */
const WRITE_TIMEOUT_MS = 60_000;
/** Errors of files of devices that do not exist anymore. */
const REMOVED = ['ENOENT', 'ENOTDIR', 'ENODEV', 'ENXIO', 'EINVAL', 'EIO'] as const;

/** Returns the value of a file of sysfs; undefined if its device does not exist. Rejects with SystemError. */
export async function readSysfs(path: string): Promise<string | undefined> {
  try {
    return (await readBoundedFile(path, {mostBytes: PAGE})).toString().trim();
  } catch (error) {
    if (hasErrno(error, ...REMOVED)) return undefined;
    throw fileError('reading', path, error);
  }
}

/** Returns the names in a directory of sysfs; none if its device does not exist. Rejects with SystemError. */
export async function listSysfs(path: string): Promise<readonly string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if (hasErrno(error, ...REMOVED)) return [];
    throw fileError('reading', path, error);
  }
}

/**
 * Writes a value to a file of sysfs, unless it does not exist. A program writes, because the kernel may not answer for minutes,
 * which would take a thread of this process. Rejects with SystemError.
 */
export async function writeSysfs(path: string, value: string, runTool: RunTool): Promise<void> {
  const script = '[ ! -e "$2" ] || printf %s "$1" >"$2"';
  const result = await runTool('sh', ['-c', script, 'sh', value, path], {timeoutMs: WRITE_TIMEOUT_MS});
  if (result.exitCode === 0) return;
  const text = result.output.trim();
  throw new SystemError(
    `writing ${JSON.stringify(value)} to ${JSON.stringify(path)}: ${describeExit(result)}${text === '' ? '' : ` (${text})`}`,
    {hint: 'look with dmesg for errors of the storage'},
  );
}

/** Returns the directory of a block device in sysfs. */
export function blockDir(sys: string, name: string): string {
  return join(sys, 'block', name);
}
