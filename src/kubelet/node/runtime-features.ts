import {compare} from '../../base/compare.js';
import type {StatusResponse, VersionResponse} from '../../cri/index.js';
import type {RuntimeFeatures} from '../contract/node-facts.js';

/** Returns the features of a runtime and its handlers, sorted by name; older runtimes report none (toKubeRuntimeStatus). */
export function runtimeFeaturesOf({
  runtimeHandlers,
  features,
}: Pick<StatusResponse, 'runtimeHandlers' | 'features'>): RuntimeFeatures {
  const sorted = runtimeHandlers.toSorted((a, b) => compare(a.name, b.name));
  return {
    handlers: new Map(
      sorted.map(({name, features: own}) => [
        name,
        {
          userNamespaces: own?.userNamespaces ?? false,
          recursiveReadOnlyMounts: own?.recursiveReadOnlyMounts ?? false,
        },
      ]),
    ),
    supplementalGroupsPolicy: features?.supplementalGroupsPolicy,
  };
}

/**
 * Returns the name and the version of a runtime that creates containers without their CDI devices, and without an error; undefined for
 * others. Newer versions of containerd do so only if CDI is disabled in their configuration.
 */
export function ignoringCdi({
  runtimeName,
  runtimeVersion,
}: Pick<VersionResponse, 'runtimeName' | 'runtimeVersion'>): string | undefined {
  const [, major, minor] = /^v?(\d+)\.(\d+)\./.exec(runtimeVersion) ?? [];
  const isOld = major === '1' && Number(minor) < 7;
  return runtimeName === 'containerd' && isOld ? `containerd ${runtimeVersion}` : undefined;
}
