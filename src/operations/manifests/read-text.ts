import {openSync} from 'node:fs';
import {stat} from 'node:fs/promises';
import {addAbortSignal, type Readable} from 'node:stream';
import {MAX_MANIFEST_BYTES} from '../../api/decoding/parse-manifest.js';
import {createPipeReadStream} from '../../base/fs/pipe-read-stream.js';
import {
  decodeUtf8,
  READ_WITHOUT_BLOCKING,
  readTextFile,
  fileTooLargeError,
} from '../../base/fs/read-text-file.js';

/** A text with its name for messages. */
export interface NamedText {
  readonly file: string;
  readonly text: string;
}

/** Reads a text file, which may have the maximum size of a manifest. Rejects as readTextFile does. */
export async function readFileText(file: string, signal: AbortSignal): Promise<string> {
  return await readTextFile(file, MAX_MANIFEST_BYTES, signal);
}

/** Reads a file as readFileText does, or a pipe, such as the shell's `<(…)`, to its end. */
export async function readFileOrPipeText(path: string, signal: AbortSignal): Promise<string> {
  if (!(await stat(path)).isFIFO()) return await readFileText(path, signal);
  return await readStreamText(createPipeReadStream(openSync(path, READ_WITHOUT_BLOCKING)), path, signal);
}

/**
 * Reads a stream with the limits of readFileText. Closes it at its end and when the signal aborts, since a terminal
 * may never end.
 */
export async function readStreamText(stream: Readable, name: string, signal: AbortSignal): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of addAbortSignal(signal, stream) as AsyncIterable<string | Uint8Array>) {
      const part = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      size += part.length;
      if (size > MAX_MANIFEST_BYTES) throw fileTooLargeError(name, MAX_MANIFEST_BYTES);
      parts.push(part);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
  return decodeUtf8(Buffer.concat(parts), name);
}
