import {createReadStream} from 'node:fs';
import {createInterface} from 'node:readline';
import {ConfigError} from '../../base/errors.js';
import {fileError} from '../../base/fs/files.js';
import {isObject} from '../../base/is-object.js';
import type {JsonObject} from '../../format/json.js';
import {RECORDING_VERSION} from './recording-header.js';

/**
 * Reads the lines of calls and messages of a recording, without its headers. Several files of a rotated recording may be
 * joined. Rejects with SystemError if the file cannot be read, with ConfigError if it is not a recording.
 */
export async function* readRecording(path: string): AsyncGenerator<JsonObject> {
  let number = 0;
  const lines = createInterface({input: createReadStream(path), crlfDelay: Infinity});
  try {
    for await (const text of lines) {
      number += 1;
      const line = parseLine(path, number, text);
      if (number === 1 || isObject(line['recording'])) checkHeader(path, line);
      else yield line;
    }
  } catch (error) {
    throw error instanceof ConfigError ? error : fileError('reading', path, error);
  }
  if (number === 0) throw new ConfigError(`"${path}" is not a recording: it is empty`);
}

function parseLine(path: string, number: number, text: string): JsonObject {
  try {
    const line = JSON.parse(text) as unknown;
    if (isObject(line)) return line as JsonObject;
  } catch {
    // The error names the line.
  }
  throw new ConfigError(`"${path}", line ${number}: not a line of a recording`, {
    hint: 'use a file that "kcri record --file" has written',
  });
}

function checkHeader(path: string, line: JsonObject): void {
  const header = line['recording'] as JsonObject | undefined;
  if (!isObject(header))
    throw new ConfigError(`"${path}" is not a recording`, {
      hint: 'use a file that "kcri record --file" has written',
    });
  if (header['version'] !== RECORDING_VERSION)
    throw new ConfigError(`"${path}" is a recording of another version of kcri`, {
      hint: `its format must be ${RECORDING_VERSION}`,
    });
}
