import {join} from 'node:path';
import {isExpectedError} from '../base/errors.js';
import {listNames} from '../base/fs/files.js';
import {connectPluginRegistration} from './connect-plugin.js';

/** Timeout of GetInfo, in ms. */
const INFO_TIMEOUT_MS = 1000;

/** A plugin with a socket in the directory of the plugin watcher. */
export interface FoundPlugin {
  readonly name: string;
  /** Socket of the plugin's services. */
  readonly endpoint: string;
  readonly versions: readonly string[];
}

/** Returns the directory of a root directory in which plugins have their sockets. */
export function pluginRegistry(rootDir: string): string {
  return join(rootDir, 'plugins_registry');
}

/**
 * Returns the plugins of a type, such as `CSIPlugin`, with a socket in a directory, as the plugin watcher of a kubelet finds them, but
 * without NotifyRegistrationStatus. Those that do not answer are left out, and reported to `onSilence` with their socket. Rejects with
 * SystemError.
 */
export async function findPlugins(
  directory: string,
  type: string,
  onSilence: (path: string, error: unknown) => void = () => undefined,
): Promise<readonly FoundPlugin[]> {
  const names = (await listNames(directory)).filter((name) => !name.startsWith('.'));
  const found = await Promise.all(
    names.map(async (name) => {
      try {
        return await askPlugin(join(directory, name), type);
      } catch (error) {
        if (!isExpectedError(error)) throw error;
        onSilence(join(directory, name), error);
        return undefined;
      }
    }),
  );
  return found.flatMap((plugin) => plugin ?? []);
}

/** Calls GetInfo of a plugin; resolves with undefined if it is of another type. Rejects with CriError. */
async function askPlugin(path: string, wanted: string): Promise<FoundPlugin | undefined> {
  const client = connectPluginRegistration(path);
  try {
    const {
      type,
      name,
      endpoint,
      supportedVersions: versions,
    } = await client.getInfo({}, {timeoutMs: INFO_TIMEOUT_MS});
    return type === wanted ? {name, endpoint: endpoint === '' ? path : endpoint, versions} : undefined;
  } finally {
    client.close();
  }
}
