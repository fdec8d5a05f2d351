import {createReadStream} from 'node:fs';
import {counted} from '../../base/counted.js';
import {ConfigError} from '../../base/errors.js';
import {fileError} from '../../base/fs/files.js';
import {isObject} from '../../base/is-object.js';
import type {JsonObject} from '../../format/json.js';
import {RECORDING_VERSION} from './recording-header.js';

/** Maximum length of a line, in characters. */
const MAX_LINE = 64 * 1024 * 1024;

/** Receivers of what is not a line of a call or a message. */
export interface RecordingReader {
  /** Called with each header: of the first file, and of further ones that were joined. */
  readonly onHeader?: (header: JsonObject) => void;
  /** Called with the number of a damaged line, which is skipped. Without it, such a line is an error. */
  readonly onDamaged?: (number: number) => void;
}

/**
 * Reads the lines of calls and messages of a recording. Several files of a rotated recording may be joined. Rejects with
 * SystemError if the file cannot be read, with ConfigError if it is not a recording.
 */
export async function* readRecording(path: string, reader: RecordingReader = {}): AsyncGenerator<JsonObject> {
  let number = 0;
  for await (const text of readLines(path)) {
    number += 1;
    const line = readLine({path, number, text}, reader);
    if (line !== undefined) yield line;
  }
  if (number === 0) throw new ConfigError(`"${path}" is not a recording: it is empty`);
}

/**
 * Reads the lines as readRecording does, but skips damaged ones, such as the last one of a recorder that was killed, and warns of
 * them at the end.
 */
export async function* readUndamaged(path: string, warn: (text: string) => void): AsyncGenerator<JsonObject> {
  let damaged = 0;
  const onDamaged = (): void => {
    damaged += 1;
  };
  yield* readRecording(path, {onDamaged});
  if (damaged > 0) warn(`${counted(damaged, 'damaged line')} of "${path}" skipped`);
}

interface NumberedLine {
  readonly path: string;
  readonly number: number;
  readonly text: string | undefined;
}

/** Returns the line of a call or a message; undefined for a header, and for a damaged line. */
function readLine({path, number, text}: NumberedLine, {onHeader, onDamaged}: RecordingReader) {
  const line = parseLine(text);
  if (line === undefined) {
    if (number === 1 || onDamaged === undefined)
      throw new ConfigError(`"${path}", line ${number}: not a line of a recording`, {hint: FILE_HINT});
    onDamaged(number);
    return undefined;
  }
  if (number > 1 && !isObject(line['recording'])) return line;
  const header = checkHeader(path, line);
  onHeader?.(header);
  return undefined;
}

const FILE_HINT = 'use a file that "kcri record --file" has written';

/** Yields the lines of a file; undefined for one that is too long, before its end is read: a device has none. */
async function* readLines(path: string): AsyncGenerator<string | undefined> {
  let parts: string[] = [];
  let length = 0;
  for await (const chunk of readChunks(path)) {
    const [first = '', ...more] = chunk.split('\n');
    for (const [index, part] of [first, ...more].entries()) {
      if (index > 0) {
        if (length <= MAX_LINE) yield parts.join('');
        parts = [];
        length = 0;
      }
      const wasTooLong = length > MAX_LINE;
      length += part.length;
      if (length <= MAX_LINE) parts.push(part);
      else parts = [];
      if (length > MAX_LINE && !wasTooLong) yield undefined;
    }
  }
  if (length > 0 && length <= MAX_LINE) yield parts.join('');
}

async function* readChunks(path: string): AsyncGenerator<string> {
  try {
    yield* createReadStream(path, 'utf8') as AsyncIterable<string>;
  } catch (error) {
    throw fileError('reading', path, error);
  }
}

function parseLine(text: string | undefined): JsonObject | undefined {
  try {
    const line = JSON.parse(text ?? '') as unknown;
    return isObject(line) ? (line as JsonObject) : undefined;
  } catch {
    return undefined; // the caller names the line
  }
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
