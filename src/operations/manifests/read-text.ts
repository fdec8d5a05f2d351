import {stat} from 'node:fs/promises';
import type {Readable} from 'node:stream';
import {MAX_MANIFEST_BYTES} from '../../api/manifest/parse-manifest.js';
import {readBoundedFile, readBoundedStream} from '../../base/fs/read-bounded-file.js';
import {decodeUtf8, readTextFile} from '../../base/fs/read-text-file.js';

/** A text with its name for messages. */
export interface NamedText {
  /** File as messages name it. */
  readonly file: string;
  /** Path, URL, or `-` for standard input; `file` by default. */
  readonly origin?: string;
  readonly text: string;
}

/** Reads a text file, which may have the maximum size of a manifest. Rejects as readTextFile does. */
export async function readFileText(file: string, signal: AbortSignal): Promise<string> {
  return await readTextFile(file, MAX_MANIFEST_BYTES, signal);
}

/** Reads a file as readFileText does, or a pipe, such as the shell's `<(…)`, or a device like /dev/null to its end. */
export async function readFileOrPipeText(path: string, signal: AbortSignal): Promise<string> {
  const found = await stat(path);
  if (!found.isFIFO() && !found.isCharacterDevice()) return await readFileText(path, signal);
  return decodeUtf8(await readBoundedFile(path, {mostBytes: MAX_MANIFEST_BYTES, signal}), path);
}

/**
 * Reads a stream with the limits of readFileText. Closes it at its end and when the signal aborts, since a terminal
 * may never end.
 */
export async function readStreamText(stream: Readable, name: string, signal: AbortSignal): Promise<string> {
  return decodeUtf8(await readBoundedStream(stream, name, {mostBytes: MAX_MANIFEST_BYTES, signal}), name);
}
