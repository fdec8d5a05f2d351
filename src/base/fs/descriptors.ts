import {closeSync, fchmod, fstatSync, fsync, open, write} from 'node:fs';
import {promisify} from 'node:util';

const openFile = promisify(open);
const writeBytes = promisify(write);

/** Flushes the content of an open file to the disk. Rejects with the system error. */
export const syncDescriptor: (descriptor: number) => Promise<void> = promisify(fsync);
const changeMode = promisify(fchmod);

/**
 * Opens a file, passes its descriptor to `use` and closes it on this thread: that takes a quarter of the time of withFile. For files of
 * local file systems, which have nothing to wait for when a file is closed; others use withFile. Rejects with the system error, and
 * with the error of `use`.
 */
export async function withDescriptor<T>(
  path: string,
  flags: string | number,
  mode: number,
  use: (descriptor: number) => Promise<T>,
): Promise<T> {
  const descriptor = await openFile(path, flags, mode);
  try {
    return await use(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Writes all bytes to an open file. Rejects with the system error. */
export async function writeAll(descriptor: number, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await writeBytes(descriptor, bytes, at)).bytesWritten;
}

/** Bits of a file's mode that chmod(2) sets. */
const MODE_BITS = 0o7777;

/** Gives an open file a mode that its creation with the umask may not have given it. Rejects with the system error. */
export async function ensureMode(descriptor: number, mode: number): Promise<void> {
  // Asked on this thread, since another takes longer than the answer.
  if ((fstatSync(descriptor).mode & MODE_BITS) !== mode) await changeMode(descriptor, mode);
}
