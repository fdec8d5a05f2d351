import {constants} from 'node:fs';
import {open, realpath, type FileHandle} from 'node:fs/promises';
import {join} from 'node:path';
import {messageOf, SystemError} from '../../../base/errors.js';
import {fdPath} from '../../../base/fs/file-handles.js';
import {systemErrorMessage} from '../../../base/system-error-message.js';
import {openBeneath} from '../../../base/fs/open-beneath.js';
import type {EnvFile} from '../../contract/pod-filesystem.js';

/** Maximum size of an env file, which limits the memory that a container can make kcri allocate. */
const MAX_FILE_BYTES = 1024 * 1024;

/**
 * Reads an env file that a container wrote to a volume. Links out of the volume, files that are not regular and files
 * larger than 1 MiB are unreadable. Does not reject for file errors.
 */
export async function readEnvFile(volumePath: string, path: string): Promise<EnvFile> {
  try {
    const place = await openBeneath(await realpath(volumePath), path);
    try {
      return {kind: 'text', path: join(volumePath, path), content: await readOpened(place)};
    } finally {
      await place.close();
    }
  } catch (error) {
    const reason = error instanceof SystemError ? messageOf(error) : systemErrorMessage(error);
    return {kind: 'unreadable', reason};
  }
}

/** Reads the opened file, even if its path now refers to another one. */
async function readOpened(place: FileHandle): Promise<string> {
  if (!(await place.stat()).isFile()) throw new SystemError('not a regular file');
  const file = await open(fdPath(place), constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const buffer = Buffer.alloc(MAX_FILE_BYTES + 1);
    const length = await readFully(file, buffer);
    if (length > MAX_FILE_BYTES)
      throw new SystemError(`it is larger than ${MAX_FILE_BYTES / 1024 / 1024} MiB`);
    return buffer.toString('utf8', 0, length);
  } finally {
    await file.close();
  }
}

async function readFully(file: FileHandle, buffer: Buffer): Promise<number> {
  let length = 0;
  while (length < buffer.length) {
    const {bytesRead} = await file.read(buffer, length, buffer.length - length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return length;
}
