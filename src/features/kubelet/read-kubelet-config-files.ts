import {readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {ConfigError} from '../../base/errors.js';
import {systemErrorMessage} from '../../base/system-error-message.js';
import {readTextFile} from '../../base/fs/read-text-file.js';
import type {ConfigFileText, KubeletConfig} from '../../kubelet/index.js';
import {configFlagTexts} from './kubelet-flags.js';
import {configWithoutFile, readConfigOptions, type KubeletKind} from './kubelet-defaults.js';

const MAX_FILE_BYTES = 1024 * 1024;

/** Returns a function that reads the configuration of a kubelet with these flags. It rejects with ConfigError and UsageError. */
export function createConfigReader(
  kind: KubeletKind,
  flags: Readonly<Record<string, unknown>> & {
    readonly config?: string | undefined;
    readonly 'config-dir'?: string | undefined;
  },
  signal: AbortSignal,
): () => Promise<KubeletConfig> {
  return async () => {
    const {readKubeletConfig} = await import('../../kubelet/index.js');
    const files = await readKubeletConfigFiles(flags.config, flags['config-dir'], signal);
    return readKubeletConfig(
      [...configWithoutFile(kind, flags.config), ...files],
      configFlagTexts(flags),
      readConfigOptions(kind),
    );
  };
}

/**
 * Reads the configuration file (--config) and then the drop-in files `*.conf` below the directory (--config-dir) in the order
 * of Go's filepath.WalkDir (server.go mergeKubeletConfigurations). Rejects with ConfigError.
 */
export async function readKubeletConfigFiles(
  file: string | undefined,
  directory: string | undefined,
  signal: AbortSignal,
): Promise<readonly ConfigFileText[]> {
  const paths = [...(file === undefined || file === '' ? [] : [file]), ...(await listDropIns(directory))];
  return await Promise.all(paths.map(async (path) => ({path, content: await readConfigFile(path, signal)})));
}

async function listDropIns(directory: string | undefined): Promise<readonly string[]> {
  if (directory === undefined || directory === '') return [];
  try {
    const paths: string[] = [];
    for await (const path of walk(directory)) if (path.endsWith('.conf')) paths.push(path);
    return paths;
  } catch (error) {
    throw new ConfigError(`cannot read directory "${directory}": ${systemErrorMessage(error)}`, {
      cause: error,
      hint: 'set --config-dir to another directory',
    });
  }
}

/** Yields the paths of all files below a directory: its entries by name, with those of a directory in its place. */
async function* walk(directory: string): AsyncGenerator<string> {
  const entries = await readdir(directory, {withFileTypes: true});
  for (const entry of entries.toSorted(({name: one}, {name: other}) => (one < other ? -1 : 1))) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) yield* walk(path);
    else yield path;
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
