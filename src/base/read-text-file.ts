import {constants} from 'node:fs';
import {open} from 'node:fs/promises';
import {ConfigError} from './errors.js';

// Not blocking: what has become a FIFO since it was looked at must not hang the reader.
export const READ_WITHOUT_BLOCKING = constants.O_RDONLY | constants.O_NONBLOCK;

/**
 * The text of a file of at most so many bytes. Throws the system's error, the signal's reason, and ConfigError for
 * what is too large, no UTF-8, or no file.
 */
export async function readTextFile(file: string, mostBytes: number, signal: AbortSignal): Promise<string> {
  const handle = await open(file, READ_WITHOUT_BLOCKING);
  try {
    const found = await handle.stat();
    // Of a directory the system says it itself.
    if (!found.isFile() && !found.isDirectory()) throw notAFile(file);
    if (found.size > mostBytes) throw tooLarge(file, mostBytes);
    const bytes = await handle.readFile({signal});
    // It may have grown meanwhile, and some file systems tell no sizes.
    if (bytes.length > mostBytes) throw tooLarge(file, mostBytes);
    return decodeUtf8(bytes, file);
  } finally {
    await handle.close();
  }
}

/** The error for what holds no text, such as a device. */
export function notAFile(file: string): ConfigError {
  return new ConfigError(`"${file}" is neither a file nor a directory`, {
    hint: 'pipe it in and name it "-" to read from standard input',
  });
}

/** The error for a text of more than so many bytes. */
export function tooLarge(file: string, mostBytes: number): ConfigError {
  return new ConfigError(`"${file}" is larger than ${mostBytes / 1024 / 1024} MiB`);
}

/** Throws ConfigError for what isn't UTF-8. */
export function decodeUtf8(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', {fatal: true, ignoreBOM: true}).decode(bytes);
  } catch (error) {
    throw new ConfigError(`"${file}" isn't UTF-8 text`, {cause: error, hint: 'convert it to UTF-8'});
  }
}
