import {UsageError} from '../../base/errors.js';
import {CONTAINER_GC_FLAGS} from './container-gc-flags.js';
import {DEPRECATIONS, type Deprecation} from './flag-deprecations.js';
import {findRemovedFlag, ignoredFlagDeprecation} from './ignored-flags.js';
import {CONFIG_FLAGS} from './kubelet-flags.js';

/** Flags of fields of the KubeletConfiguration that kubelet 1.36 does not deprecate (its options.go). */
const CURRENT: ReadonlySet<string> = new Set([
  'fail-cgroupv1',
  'feature-gates',
  'log-flush-frequency',
  'provider-id',
  'seccomp-default',
  'tls-cert-file',
  'tls-cipher-suites',
  'tls-private-key-file',
  'v',
  'vmodule',
]);

/**
 * Returns the warnings of a kubelet about the deprecated ones of the given flags, in the order of their names. Throws
 * UsageError for a flag that kubelets no longer have.
 */
export function checkKubeletFlags(flags: Readonly<Record<string, unknown>>): readonly string[] {
  const removed = findRemovedFlag(flags);
  if (removed !== undefined)
    throw new UsageError(`failed to parse kubelet flag: unknown flag: --${removed}`, {
      hint: 'Kubernetes has removed the flag; under its own name, kcri ignores it',
    });
  return Object.keys(flags)
    .filter((name) => flags[name] !== undefined)
    .toSorted()
    .flatMap((name) => {
      const deprecation = deprecationOf(name);
      return deprecation === undefined
        ? []
        : [`Flag --${name} has been deprecated, ${DEPRECATIONS[deprecation]}`];
    });
}

function deprecationOf(name: string): Deprecation | undefined {
  if (Object.hasOwn(CONTAINER_GC_FLAGS, name)) return 'eviction';
  if (Object.hasOwn(CONFIG_FLAGS, name)) return CURRENT.has(name) ? undefined : 'configuration';
  return ignoredFlagDeprecation(name);
}
