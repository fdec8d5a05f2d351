import {openSync} from 'node:fs';
import {stat} from 'node:fs/promises';
import {addAbortSignal, type Readable} from 'node:stream';
import {LARGEST_MANIFEST_BYTES} from '../api/manifest.js';
import {pipeStream} from '../base/pipe-stream.js';
import {decodeUtf8, READ_WITHOUT_BLOCKING, readTextFile, tooLarge} from '../base/read-text-file.js';

/** What a person wrote, and what it is called in messages. */
export interface NamedText {
  readonly file: string;
  readonly text: string;
}

/** As readTextFile, at most as large as a manifest may be. */
export async function readFileText(file: string, signal: AbortSignal): Promise<string> {
  return await readTextFile(file, LARGEST_MANIFEST_BYTES, signal);
}

/** As readFileText; a pipe, such as the shell's `<(…)`, is read to its end. */
export async function readFileOrPipeText(path: string, signal: AbortSignal): Promise<string> {
  if (!(await stat(path)).isFIFO()) return await readFileText(path, signal);
  return await readStreamText(pipeStream(openSync(path, READ_WITHOUT_BLOCKING)), path, signal);
}

/** As readFileText, of a stream, which is closed at the end or when the signal aborts: a terminal may never end. */
export async function readStreamText(stream: Readable, name: string, signal: AbortSignal): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of addAbortSignal(signal, stream) as AsyncIterable<string | Uint8Array>) {
      const part = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      size += part.length;
      if (size > LARGEST_MANIFEST_BYTES) throw tooLarge(name, LARGEST_MANIFEST_BYTES);
      parts.push(part);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
  return decodeUtf8(Buffer.concat(parts), name);
}
