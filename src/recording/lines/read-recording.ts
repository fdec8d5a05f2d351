import {addAbortSignal} from 'node:stream';
import {counted} from '../../base/counted.js';
import {ConfigError} from '../../base/errors.js';
import {fileError, withFileErrors} from '../../base/fs/files.js';
import {openReadStream} from '../../base/fs/read-bounded-file.js';
import {isObject} from '../../base/is-object.js';
import type {JsonObject} from '../../format/json.js';
import {MAX_LINE_BYTES, RECORDING_VERSION} from './recording-header.js';

/** Maximum depth of a line's values. Messages of the CRI have less than twenty levels, and deeper ones would exhaust the stack. */
const MAX_DEPTH = 100;
/** Length of the shortest line that may be deeper. */
const SHORTEST_DEEP = 2 * MAX_DEPTH;

/** Receivers of what is not a line of a call or a message. */
export interface RecordingReader {
  readonly signal: AbortSignal;
  /** Called with each header: of the first file, and of further ones that were joined. */
  readonly onHeader?: (header: JsonObject) => void;
  /** Called with the number of a damaged line, which is skipped. */
  readonly onDamaged: (number: number) => void;
  /** Called with the number of lines that the recorder could not write. */
  readonly onLost: (count: number) => void;
}

/**
 * Reads the lines of calls and messages of a recording. Several files of a rotated recording may be joined. Rejects with
 * SystemError if the file cannot be read, with ConfigError if it is not a recording, with the signal's reason if it aborts.
 */
export async function* readRecording(path: string, reader: RecordingReader): AsyncGenerator<JsonObject> {
  let number = 0;
  for await (const text of readLines(path, reader.signal)) {
    number += 1;
    const line = readLine({path, number, text}, reader);
    if (line !== undefined) yield line;
  }
  if (number === 0) throw new ConfigError(`"${path}" is not a recording: it is empty`);
}

/** Options of readUndamaged. */
export interface UndamagedReader {
  readonly signal: AbortSignal;
  readonly warn: (text: string) => void;
}

/**
 * Reads the lines as readRecording does, but skips damaged ones, such as the last one of a recorder that was killed, and warns of
 * them, and of lines that the recorder has lost, at the end. Rejects with ConfigError if only damaged ones are there.
 */
export async function* readUndamaged(
  path: string,
  {signal, warn}: UndamagedReader,
): AsyncGenerator<JsonObject> {
  let [damaged, lost, read] = [0, 0, 0];
  const onDamaged = (): void => {
    damaged += 1;
  };
  const onLost = (count: number): void => {
    lost += count;
  };
  for await (const line of readRecording(path, {signal, onDamaged, onLost})) {
    read += 1;
    yield line;
  }
  if (damaged > 0 && read === 0)
    throw new ConfigError(`"${path}" has no calls: all lines after the first one are damaged`, {
      hint: FILE_HINT,
    });
  if (damaged > 0) warn(`${counted(damaged, 'damaged line')} of "${path}" skipped`);
  if (lost > 0) warn(lostText(lost, path));
}

/** Returns the warning of lines that a recorder has lost. */
export function lostText(lost: number, path: string): string {
  return `${counted(lost, 'line')} of "${path}" missing: the recorder could not write them in time`;
}

interface NumberedLine {
  readonly path: string;
  readonly number: number;
  readonly text: string | undefined;
}

/** Returns the line of a call or a message; undefined for a header, for lost lines, and for a damaged line. */
function readLine({path, number, text}: NumberedLine, {onHeader, onDamaged, onLost}: RecordingReader) {
  const line = parseLine(text);
  if (line === undefined) {
    if (number === 1) throw notARecording(path, text);
    onDamaged(number);
    return undefined;
  }
  const {lost} = line;
  if (number > 1 && Number.isSafeInteger(lost)) {
    onLost(Math.max(0, Number(lost)));
    return undefined;
  }
  if (number > 1 && !isObject(line['recording'])) return line;
  const header = checkHeader(path, line);
  onHeader?.(header);
  return undefined;
}

const FILE_HINT = 'use a file that "kcri record --file" has written';
/** Begin of a gzip file, decoded as UTF-8. */
const GZIP = '\x1f\ufffd';

function notARecording(path: string, text = ''): ConfigError {
  return text.startsWith(GZIP)
    ? new ConfigError(`"${path}" is compressed`, {hint: `decompress it first: "gunzip -k FILE"`})
    : new ConfigError(`"${path}", line 1: not a line of a recording`, {hint: FILE_HINT});
}

/** Yields the lines of a file; undefined for one that is too long, before its end is read: a device has none. */
async function* readLines(path: string, signal: AbortSignal): AsyncGenerator<string | undefined> {
  let parts: string[] = [];
  let length = 0;
  for await (const chunk of readChunks(path, signal)) {
    const [first = '', ...more] = chunk.split('\n');
    for (const [index, part] of [first, ...more].entries()) {
      if (index > 0) {
        if (length <= MAX_LINE_BYTES) yield parts.join('');
        parts = [];
        length = 0;
      }
      const wasTooLong = length > MAX_LINE_BYTES;
      length += part.length;
      if (length <= MAX_LINE_BYTES) parts.push(part);
      else parts = [];
      if (length > MAX_LINE_BYTES && !wasTooLong) yield undefined;
    }
  }
  if (length > 0 && length <= MAX_LINE_BYTES) yield parts.join('');
}

async function* readChunks(path: string, signal: AbortSignal): AsyncGenerator<string> {
  const stream = await withFileErrors('reading', path, () => openReadStream(path));
  try {
    yield* addAbortSignal(signal, stream).setEncoding('utf8') as AsyncIterable<string>;
  } catch (error) {
    signal.throwIfAborted();
    throw fileError('reading', path, error);
  } finally {
    stream.destroy();
  }
}

function parseLine(text = ''): JsonObject | undefined {
  try {
    const line = JSON.parse(text) as unknown;
    if (!isObject(line) || (text.length >= SHORTEST_DEEP && isDeeper(line, MAX_DEPTH))) return undefined;
    return line as JsonObject;
  } catch {
    return undefined; // the caller names the line
  }
}

/** Reports whether a value has more levels than that. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  const members: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  return members.some((member) => isDeeper(member, levels - 1));
}

function checkHeader(path: string, line: JsonObject): JsonObject {
  const header = line['recording'] as JsonObject | undefined;
  if (!isObject(header)) throw new ConfigError(`"${path}" is not a recording`, {hint: FILE_HINT});
  if (header['version'] !== RECORDING_VERSION)
    throw new ConfigError(`"${path}" is a recording of another version of kcri`, {
      hint: `its format must be ${RECORDING_VERSION}`,
    });
  return header;
}
