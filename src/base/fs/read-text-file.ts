import {constants} from 'node:fs';
import {open} from 'node:fs/promises';
import {ConfigError} from '../errors.js';

// Non-blocking: a file that was replaced by a FIFO must not block the reader.
export const READ_WITHOUT_BLOCKING = constants.O_RDONLY | constants.O_NONBLOCK;

/**
 * Returns the text of a file of at most `mostBytes` bytes. Rejects with the system error, with the signal's reason, and
 * with ConfigError if it is too large, not UTF-8 or not a regular file.
 */
export async function readTextFile(file: string, mostBytes: number, signal: AbortSignal): Promise<string> {
  const handle = await open(file, READ_WITHOUT_BLOCKING);
  try {
    const found = await handle.stat();
    // Reading a directory fails with an error that says so.
    if (!found.isFile() && !found.isDirectory()) throw notAFileError(file);
    if (found.size > mostBytes) throw fileTooLargeError(file, mostBytes);
    const bytes = await handle.readFile({signal}).catch((error: unknown) => {
      signal.throwIfAborted();
      throw error;
    });
    // It may have grown, and some filesystems do not report sizes.
    if (bytes.length > mostBytes) throw fileTooLargeError(file, mostBytes);
    return decodeUtf8(bytes, file);
  } finally {
    await handle.close();
  }
}

/** Creates the error for a path that is not a regular file, such as a device. */
export function notAFileError(file: string): ConfigError {
  return new ConfigError(`"${file}" is neither a file nor a directory`, {
    hint: 'pipe it in and use "-" to read standard input',
  });
}

/** Creates the error for a file larger than the limit. */
export function fileTooLargeError(file: string, mostBytes: number): ConfigError {
  return new ConfigError(`"${file}" is larger than ${mostBytes / 1024 / 1024} MiB`);
}

/** Decodes UTF-8. Throws ConfigError for invalid input. */
export function decodeUtf8(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', {fatal: true, ignoreBOM: true}).decode(bytes);
  } catch (error) {
    throw new ConfigError(`"${file}" is not UTF-8 text`, {cause: error, hint: 'convert it to UTF-8'});
  }
}
