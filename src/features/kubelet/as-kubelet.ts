import {FlagError} from '../../cli/parsing/usage-errors.js';
import {CONTAINER_GC_FLAGS} from './container-gc-flags.js';
import {DEPRECATIONS, type Deprecation} from './flag-deprecations.js';
import {ignoredFlagDeprecation, isRemovedFlag} from './ignored-flags.js';
import {CONFIG_FLAGS} from './kubelet-flags.js';

/** Flags of fields of the KubeletConfiguration that kubelet 1.36 does not deprecate (its options.go). */
const CURRENT: ReadonlySet<string> = new Set([
  'fail-cgroupv1',
  'log-flush-frequency',
  'provider-id',
  'seccomp-default',
  'v',
  'vmodule',
]);

/**
 * Returns the warnings of a kubelet about the given flags that are deprecated, in their order. Throws FlagError for a flag
 * that kubelets no longer have.
 */
export function checkKubeletFlags(names: readonly string[]): readonly string[] {
  const removed = names.find(isRemovedFlag);
  if (removed !== undefined) throw new FlagError(`unknown flag: --${removed}`);
  return names.flatMap((name) => {
    const text = deprecationOf(name);
    return text === undefined ? [] : [`Flag --${name} has been deprecated, ${text}`];
  });
}

/** Returns the text with which a kubelet deprecates a flag; undefined if it does not. */
export function deprecationOf(name: string): string | undefined {
  const deprecation = reasonOf(name);
  return deprecation && DEPRECATIONS[deprecation];
}

function reasonOf(name: string): Deprecation | undefined {
  if (Object.hasOwn(CONTAINER_GC_FLAGS, name)) return 'eviction';
  if (Object.hasOwn(CONFIG_FLAGS, name)) return CURRENT.has(name) ? undefined : 'configuration';
  return ignoredFlagDeprecation(name);
}
