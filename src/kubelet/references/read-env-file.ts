import {constants} from 'node:fs';
import {open, realpath, type FileHandle} from 'node:fs/promises';
import {join} from 'node:path';
import {messageOf, SystemError} from '../../base/errors.js';
import {fdPath} from '../../base/file-handles.js';
import {systemReason} from '../../base/system-reason.js';
import {openBeneath} from '../../base/open-beneath.js';
import type {EnvFile} from '../container/pod-filesystem.js';

/** Nobody needs a larger environment, and no container is to fill kcri's memory. */
const LARGEST_FILE_BYTES = 1024 * 1024;

/**
 * Reads a file that a container has put into a volume, and nothing else: links that lead out of the volume, pipes,
 * devices and what is too large are refused. Never rejects for what is there.
 */
export async function readEnvFile(volumePath: string, path: string): Promise<EnvFile> {
  try {
    const place = await openBeneath(await realpath(volumePath), path);
    try {
      return {kind: 'text', path: join(volumePath, path), content: await readPlace(place)};
    } finally {
      await place.close();
    }
  } catch (error) {
    const reason = error instanceof SystemError ? messageOf(error) : systemReason(error);
    return {kind: 'unreadable', reason};
  }
}

/** The place is what was found, whatever its name leads to by now. */
async function readPlace(place: FileHandle): Promise<string> {
  if (!(await place.stat()).isFile()) throw new SystemError('it is not a regular file');
  const file = await open(fdPath(place), constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const buffer = Buffer.alloc(LARGEST_FILE_BYTES + 1);
    const length = await fill(file, buffer);
    if (length > LARGEST_FILE_BYTES)
      throw new SystemError(`it is larger than ${LARGEST_FILE_BYTES / 1024 / 1024} MiB`);
    return buffer.toString('utf8', 0, length);
  } finally {
    await file.close();
  }
}

async function fill(file: FileHandle, buffer: Buffer): Promise<number> {
  let length = 0;
  while (length < buffer.length) {
    const {bytesRead} = await file.read(buffer, length, buffer.length - length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return length;
}
