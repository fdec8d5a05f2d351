import {ConfigError, isSystemCallError, messageOf} from '../../base/errors.js';
import {systemErrorMessage} from '../../base/system-error-message.js';
import type {CliContext} from '../process/context.js';
import {parseConfigFile} from '../settings/config-file.js';
import {CRICTL_CONFIG_FILE_DIALECT} from './crictl-config-file.js';
import {
  findConfigFile,
  KCRI_SETTING_DEFAULTS,
  type ReadFile,
  type SettingsSource,
  type FileRequest,
} from '../settings/settings.js';

/** Settings of crictl. */
export const CRICTL_SETTINGS_SOURCE: SettingsSource = {
  readFile,
  defaults: {...KCRI_SETTING_DEFAULTS, timeout: 2, 'max-retries': 3},
};

/**
 * Reads the config file as crictl does. Warns about a missing file, and rejects a broken file only if the user named
 * it. Without a file, calls are retried; with a file, only if it says so. Rejects with ConfigError.
 */
async function readFile(file: FileRequest, context: CliContext): Promise<ReadFile> {
  const {path: wanted, named, mayBeMissing, onWarning} = file;
  try {
    const {path, source} = await findConfigFile(wanted, context);
    if (path !== wanted || source === undefined)
      onWarning(`Config ${JSON.stringify(wanted)} does not exist, trying next: ${JSON.stringify(path)}`);
    if (source === undefined && mayBeMissing) return {options: {}, path: wanted};
    if (source === undefined) throw new ConfigError(`stat ${path}: no such file or directory`);
    const options = await parseConfigFile(source, CRICTL_CONFIG_FILE_DIALECT);
    return {options: {'max-retries': 0, ...options}, path};
  } catch (error) {
    if (named)
      throw new ConfigError(`get server config: load config file: ${goReason(wanted, error)}`, {
        cause: error,
      });
    return {options: {}, path: wanted};
  }
}

/** Messages of Go for errors that have a different message in Node.js. */
const GO_WORDS: Readonly<Record<string, string>> = {EISDIR: 'is a directory'};

function goReason(path: string, error: unknown): string {
  if (!isSystemCallError(error)) return messageOf(error);
  const {syscall = '', code = ''} = error as NodeJS.ErrnoException;
  return `${syscall} ${path}: ${GO_WORDS[code] ?? systemErrorMessage(error)}`;
}
