import {compare} from '../../base/compare.js';
import type {StatusResponse, VersionResponse} from '../../cri/index.js';
import type {CdiIgnorer, RuntimeFeatures} from '../contract/node-facts.js';

/**
 * Returns the features of a runtime and its handlers, sorted by name; older runtimes report none (toKubeRuntimeStatus). Of a verbose
 * status, the configuration of containerd counts as well.
 */
export function runtimeFeaturesOf({
  runtimeHandlers,
  features,
  info,
}: Pick<StatusResponse, 'runtimeHandlers' | 'features' | 'info'>): RuntimeFeatures {
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
    ...(/"enableCDI":\s*false/.test(info['config'] ?? '') && {isCdiDisabled: true}),
  };
}

/**
 * Returns a runtime that creates containers without their CDI devices, and without an error: an older containerd, and one in whose
 * configuration CDI is disabled; undefined for others.
 */
export function ignoringCdi(
  {runtimeName, runtimeVersion}: Pick<VersionResponse, 'runtimeName' | 'runtimeVersion'>,
  {isCdiDisabled = false}: Pick<RuntimeFeatures, 'isCdiDisabled'>,
): CdiIgnorer | undefined {
  if (runtimeName !== 'containerd') return undefined;
  const runtime = `containerd ${runtimeVersion}`;
  const [, major, minor] = /^v?(\d+)\.(\d+)\./.exec(runtimeVersion) ?? [];
  if (major === '1' && Number(minor) < 7)
    return {
      runtime,
      remedy: 'update it to 1.7 or later with enable_cdi = true, which is the default since 2.0',
    };
  return isCdiDisabled ? {runtime, remedy: 'set enable_cdi = true in its configuration'} : undefined;
}
