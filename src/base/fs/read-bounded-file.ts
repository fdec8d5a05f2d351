import {openSync} from 'node:fs';
import {open, stat} from 'node:fs/promises';
import {Socket} from 'node:net';
import {addAbortSignal, Readable} from 'node:stream';
import {getBun} from '../bun.js';
import {fileTooLargeError, READ_WITHOUT_BLOCKING} from './read-text-file.js';

/** Maximum size of a file that a flag, a variable or a setting names: certificates, credentials, templates. */
export const MAX_NAMED_FILE_BYTES = 16 * 1024 * 1024;

/** Limits of reading a file. */
export interface ReadLimits {
  readonly mostBytes?: number;
  readonly signal?: AbortSignal;
}

/**
 * Reads a file, a pipe such as the shell's `<(…)`, or a device such as /dev/null to its end. Unlike readFile, it does
 * not fill the memory with a device that never ends, and a FIFO without a writer does not block the process. Rejects
 * with the system error, with the signal's reason, and with ConfigError if there are more than `mostBytes` bytes.
 */
export async function readBoundedFile(path: string, limits: ReadLimits = {}): Promise<Buffer> {
  if ((await stat(path)).isFIFO()) return await readBoundedStream(openPipe(path), path, limits);
  const handle = await open(path, READ_WITHOUT_BLOCKING);
  try {
    const {mostBytes = MAX_NAMED_FILE_BYTES} = limits;
    return await readBoundedStream(handle.createReadStream({end: mostBytes, autoClose: false}), path, limits);
  } finally {
    await handle.close();
  }
}

/**
 * Opens a file, a pipe or a device of any length. A FIFO without a writer does not block the process, and its stream can be
 * destroyed while it waits. The caller destroys the stream. Rejects with the system error.
 */
export async function openReadStream(path: string): Promise<Readable> {
  if ((await stat(path)).isFIFO()) return openPipe(path);
  return (await open(path, READ_WITHOUT_BLOCKING)).createReadStream();
}

function openPipe(path: string): Readable {
  return createPipeReadStream(openSync(path, READ_WITHOUT_BLOCKING));
}

/**
 * Creates a stream of a pipe or FIFO that was opened without blocking. It waits for the first writer and ends when all
 * writers have closed it. It polls like a socket, because a thread blocked in read(2) cannot be interrupted. Bun's
 * sockets do not support pipes, but its files do.
 */
function createPipeReadStream(fd: number): Readable {
  const bun = getBun();
  return bun === undefined ? new Socket({fd, writable: false}) : Readable.fromWeb(bun.file(fd).stream());
}

/**
 * Reads a stream to its end. Closes it then and when the signal aborts, since a terminal may never end. Rejects as
 * readBoundedFile does.
 */
export async function readBoundedStream(
  stream: Readable,
  name: string,
  {mostBytes = MAX_NAMED_FILE_BYTES, signal = new AbortController().signal}: ReadLimits = {},
): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of addAbortSignal(signal, stream) as AsyncIterable<string | Uint8Array>) {
      const part = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      size += part.length;
      if (size > mostBytes) throw fileTooLargeError(name, mostBytes);
      parts.push(part);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
  return Buffer.concat(parts);
}
