import {constants, openSync} from 'node:fs';
import {open, stat} from 'node:fs/promises';
import {Socket} from 'node:net';
import {addAbortSignal, type Readable} from 'node:stream';
import {LARGEST_MANIFEST_BYTES} from '../api/manifest.js';
import {ConfigError} from '../base/errors.js';

/** What a person wrote, and what it is called in messages. */
export interface NamedText {
  readonly file: string;
  readonly text: string;
}

// Not blocking: what has become a FIFO since it was looked at must not hang the command.
const READ = constants.O_RDONLY | constants.O_NONBLOCK;

/**
 * The text of a file, at most as large as a manifest may be. Throws the system's error, the signal's reason, and
 * ConfigError for what is too large, no UTF-8, or no file.
 */
export async function readFileText(file: string, signal: AbortSignal): Promise<string> {
  const handle = await open(file, READ);
  try {
    const found = await handle.stat();
    // Of a directory the system says it itself.
    if (!found.isFile() && !found.isDirectory()) throw notAFile(file);
    if (found.size > LARGEST_MANIFEST_BYTES) throw tooLarge(file);
    return decodeUtf8(await handle.readFile({signal}), file);
  } finally {
    await handle.close();
  }
}

/** As readFileText; a pipe, such as the shell's `<(…)`, is read to its end. */
export async function readFileOrPipeText(path: string, signal: AbortSignal): Promise<string> {
  if (!(await stat(path)).isFIFO()) return await readFileText(path, signal);
  return await readStreamText(new Socket({fd: openSync(path, READ), writable: false}), path, signal);
}

/** As readFileText, of a stream, which is closed at the end or when the signal aborts: a terminal may never end. */
export async function readStreamText(stream: Readable, name: string, signal: AbortSignal): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of addAbortSignal(signal, stream) as AsyncIterable<string | Uint8Array>) {
      const part = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      size += part.length;
      if (size > LARGEST_MANIFEST_BYTES) throw tooLarge(name);
      parts.push(part);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
  return decodeUtf8(Buffer.concat(parts), name);
}

/** The error for what holds no text, such as a device. */
export function notAFile(file: string): ConfigError {
  return new ConfigError(`"${file}" is neither a file nor a directory`, {
    hint: 'pipe it in and name it "-" to read from standard input',
  });
}

function tooLarge(file: string): ConfigError {
  return new ConfigError(`"${file}" is larger than ${LARGEST_MANIFEST_BYTES / 1024 / 1024} MiB`);
}

function decodeUtf8(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', {fatal: true, ignoreBOM: true}).decode(bytes);
  } catch (error) {
    throw new ConfigError(`"${file}" isn't UTF-8 text`, {cause: error, hint: 'convert it to UTF-8'});
  }
}
