import {readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {ConfigError} from '../../base/errors.js';
import {systemErrorMessage} from '../../base/system-error-message.js';
import {readTextFile} from '../../base/fs/read-text-file.js';
import type {ConfigFileText} from '../../kubelet/index.js';

const MAX_FILE_BYTES = 1024 * 1024;

/**
 * Reads the configuration file (--config) and then the drop-in files `*.conf` of the directory in lexical order
 * (--config-dir). Rejects with ConfigError.
 */
export async function readKubeletConfigFiles(
  file: string | undefined,
  directory: string | undefined,
  signal: AbortSignal,
): Promise<readonly ConfigFileText[]> {
  const paths = [...(file === undefined ? [] : [file]), ...(await listDropIns(directory))];
  return await Promise.all(paths.map(async (path) => ({path, content: await readConfigFile(path, signal)})));
}

async function listDropIns(directory: string | undefined): Promise<readonly string[]> {
  if (directory === undefined) return [];
  try {
    const names = (await readdir(directory)).filter((name) => name.endsWith('.conf'));
    return names.sort().map((name) => join(directory, name));
  } catch (error) {
    throw new ConfigError(`cannot read directory "${directory}": ${systemErrorMessage(error)}`, {
      cause: error,
      hint: 'set --config-dir to another directory',
    });
  }
}

async function readConfigFile(path: string, signal: AbortSignal): Promise<string> {
  try {
    return await readTextFile(path, MAX_FILE_BYTES, signal);
  } catch (error) {
    throw new ConfigError(`cannot read configuration "${path}": ${systemErrorMessage(error)}`, {
      cause: error,
      hint: 'set --config to another file',
    });
  }
}
