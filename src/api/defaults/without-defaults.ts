import {canonicalJson} from '../container-hash.js';
import type {Pod} from '../types/v1-pod.js';
import {applyPodDefaults} from './pod-defaults.js';

/** Source of a volume that has none. A volume without a source would surprise readers. */
const ALWAYS_SHOWN = 'emptyDir';
/** Length from which a list is not simplified item by item: each attempt compares the whole Pod. */
const LONGEST_LIST = 50;

/** Returns a Pod without the fields whose defaults have the same values, for people to read. */
export function withoutDefaults(pod: Pod): Pod {
  const complete = canonicalJson(applyPodDefaults(pod));
  const isEquivalent = (candidate: unknown): boolean => {
    try {
      return canonicalJson(applyPodDefaults(candidate as Pod)) === complete;
    } catch (error) {
      // Without a required field there are no defaults.
      if (error instanceof TypeError) return false;
      throw error;
    }
  };
  return simplify(pod, isEquivalent) as Pod;
}

/** Returns a value without the members that are not needed; `isEquivalent` receives the root with a candidate in it. */
function simplify(value: unknown, isEquivalent: (candidate: unknown) => boolean): unknown {
  if (Array.isArray(value)) {
    if (value.length > LONGEST_LIST) return value;
    let items: readonly unknown[] = value;
    for (const index of value.keys()) {
      const item = simplify(items[index], (candidate) => isEquivalent(items.with(index, candidate)));
      items = items.with(index, item);
    }
    return items;
  }
  return typeof value === 'object' && value !== null ? simplifyObject(value, isEquivalent) : value;
}

function simplifyObject(object: object, isEquivalent: (candidate: unknown) => boolean): object {
  let left: Readonly<Record<string, unknown>> = {...object};
  for (const name of Object.keys(object)) {
    const {[name]: value, ...others} = left;
    left =
      name !== ALWAYS_SHOWN && isEquivalent(others)
        ? others
        : {...left, [name]: simplify(value, (candidate) => isEquivalent({...left, [name]: candidate}))};
  }
  return left;
}
