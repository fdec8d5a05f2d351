import {compare} from '../../base/compare.js';
import type {StatusResponse} from '../../cri/index.js';
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
