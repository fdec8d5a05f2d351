import {readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {ConfigError} from '../../base/errors.js';
import {systemReason} from '../../base/system-reason.js';
import {readTextFile} from '../../base/read-text-file.js';
import type {ConfigFileText} from '../../kubelet/index.js';

/** No configuration is nearly as large. */
const LARGEST_BYTES = 1024 * 1024;

/**
 * The texts of a configuration: the file, and then the files of the directory whose names end in `.conf`, by name
 * (--config and --config-dir). Rejects with ConfigError.
 */
export async function readConfigFiles(
  file: string | undefined,
  directory: string | undefined,
  signal: AbortSignal,
): Promise<readonly ConfigFileText[]> {
  const paths = [...(file === undefined ? [] : [file]), ...(await dropIns(directory))];
  return await Promise.all(paths.map(async (path) => ({path, content: await contentOf(path, signal)})));
}

async function dropIns(directory: string | undefined): Promise<readonly string[]> {
  if (directory === undefined) return [];
  try {
    const names = (await readdir(directory)).filter((name) => name.endsWith('.conf'));
    return names.sort().map((name) => join(directory, name));
  } catch (error) {
    throw new ConfigError(`reading the directory "${directory}": ${systemReason(error)}`, {
      cause: error,
      hint: 'name another one with --config-dir',
    });
  }
}

async function contentOf(path: string, signal: AbortSignal): Promise<string> {
  try {
    return await readTextFile(path, LARGEST_BYTES, signal);
  } catch (error) {
    throw new ConfigError(`reading the configuration "${path}": ${systemReason(error)}`, {
      cause: error,
      hint: 'name another file with --config',
    });
  }
}
