import {join} from 'node:path';
import {MAX_SEGMENT_LENGTH} from '../../../../../base/fs/files.js';
import {DEFAULT_VOLUME_PLUGIN_DIR, type NodeFacts} from '../../../../contract/node-facts.js';

/** Directories of the plugins of Kubernetes, which no driver can have. */
const OF_KUBERNETES: ReadonlySet<string> = new Set(
  [
    ...['configmap', 'csi', 'downward-api', 'empty-dir', 'fc', 'git-repo', 'host-path', 'image', 'iscsi'],
    ...['local-volume', 'nfs', 'projected', 'secret'],
  ].map((name) => `kubernetes.io~${name}`),
);

/**
 * Returns the name of the directory of a FlexVolume driver, in that of all drivers and in those of pods: `vendor~driver` for
 * `vendor/driver` (EscapeQualifiedName). Undefined for a name that no driver can have, such as one with `..`.
 */
export function flexDirectory(driver: string): string | undefined {
  const directory = driver.replaceAll('/', '~');
  return driver.includes('~') || flexDriverOf(directory) === undefined ? undefined : directory;
}

/** Returns the driver of a directory (UnescapeQualifiedName); undefined if it is not that of a driver. */
export function flexDriverOf(directory: string): string | undefined {
  const parts = directory.split('~');
  // The name is a part of paths, in lists and in messages.
  const isValid = parts.every((part) => part !== '' && !part.startsWith('.') && !/[/\p{Cc}]/u.test(part));
  if (!isValid || Buffer.byteLength(directory) > MAX_SEGMENT_LENGTH || OF_KUBERNETES.has(directory))
    return undefined;
  return parts.join('/');
}

/** Returns the path of the executable of a driver; undefined for a name that no driver can have (getExecutable). */
export function flexExecutable(
  {volumePluginDir = DEFAULT_VOLUME_PLUGIN_DIR}: Pick<NodeFacts, 'volumePluginDir'>,
  driver: string,
): string | undefined {
  const directory = flexDirectory(driver);
  return directory && join(volumePluginDir, directory, driver.slice(driver.lastIndexOf('/') + 1));
}
