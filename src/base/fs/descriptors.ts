import {closeSync, fchmod, fstatSync, fsync, open, write} from 'node:fs';
import {MODE_BITS} from './files.js';

/** Calls a function of node:fs that calls back. Rejects with the system error. */
async function called<T>(call: (done: (error: Error | null, result: T) => void) => void): Promise<T> {
  return await new Promise((resolve, reject) => {
    call((error, result) => {
      if (error instanceof Error) reject(error);
      else resolve(result);
    });
  });
}

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
  const descriptor = await called<number>((done) => {
    open(path, flags, mode, done);
  });
  try {
    return await use(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Writes all bytes to an open file. Rejects with the system error. */
export async function writeAll(descriptor: number, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;)
    at += await called<number>((done) => {
      write(descriptor, bytes, at, done);
    });
}

/** Flushes the content of an open file to the disk. Rejects with the system error. */
export async function syncDescriptor(descriptor: number): Promise<void> {
  await called((done) => {
    fsync(descriptor, done as (error: Error | null) => void);
  });
}

/** Gives an open file a mode that its creation with the umask may not have given it. Rejects with the system error. */
export async function ensureMode(descriptor: number, mode: number): Promise<void> {
  // Asked on this thread, since another takes longer than the answer.
  if ((fstatSync(descriptor).mode & MODE_BITS) === mode) return;
  await called((done) => {
    fchmod(descriptor, mode, done as (error: Error | null) => void);
  });
}
