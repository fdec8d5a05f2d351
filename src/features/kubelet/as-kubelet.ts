import {UsageError} from '../../base/errors.js';
import {findRemovedFlag, isCadvisorFlag} from './ignored-flags.js';
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

const SET_IN_CONFIG =
  "This parameter should be set via the config file specified by the Kubelet's --config flag. See " +
  'https://kubernetes.io/docs/tasks/administer-cluster/kubelet-config-file/ for more information.';
const OF_CADVISOR =
  'This is a cadvisor flag that was mistakenly registered with the Kubelet. Due to legacy concerns, it will follow the ' +
  'standard CLI deprecation timeline before being removed.';
const USE_EVICTION = 'Use --eviction-hard or --eviction-soft instead. Will be removed in a future version.';

/** Deprecations of flags that are neither fields of the KubeletConfiguration nor of cAdvisor. */
const DEPRECATED: Readonly<Record<string, string>> = {
  'experimental-allocatable-ignore-eviction': 'will be removed in 1.25 or later.',
  'experimental-mounter-path': 'will be removed in 1.25 or later. in favor of using CSI.',
  'maximum-dead-containers': USE_EVICTION,
  'maximum-dead-containers-per-container': USE_EVICTION,
  'minimum-container-ttl-duration': USE_EVICTION,
};

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
      const reason = deprecationOf(name);
      return reason === undefined ? [] : [`Flag --${name} has been deprecated, ${reason}`];
    });
}

function deprecationOf(name: string): string | undefined {
  if (isCadvisorFlag(name)) return OF_CADVISOR;
  const isField = Object.hasOwn(CONFIG_FLAGS, name) || name.startsWith('log-');
  return isField && !CURRENT.has(name) ? SET_IN_CONFIG : DEPRECATED[name];
}
