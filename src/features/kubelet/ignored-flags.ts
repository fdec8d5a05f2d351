import * as Flags from '@oclif/core/flags';
import type {Deprecation} from './flag-deprecations.js';
import {noDefault} from './kubelet-flags.js';

/** Flag of a kubelet that has no effect here. */
interface WithoutEffect {
  readonly reason: string;
  /** True if the flag takes no value. */
  readonly isSwitch?: true;
  readonly deprecation?: Deprecation;
}

const NO_CADVISOR =
  'kcri has no cAdvisor; it reads the statistics of containers from the runtime and cgroups';
const HOUSEKEEPING = {reason: NO_CADVISOR};
const CADVISOR = {reason: NO_CADVISOR, deprecation: 'cAdvisor'} as const;
const STORAGE = {reason: 'kcri stores no statistics', deprecation: 'cAdvisor'} as const;
const ONE_STREAM = {
  reason: 'the log is one stream to standard error',
  deprecation: 'configuration',
} as const;

/** Flags of kubelet 1.36 that have no effect. */
const PRESENT: Readonly<Record<string, WithoutEffect>> = {
  'application-metrics-count-limit': CADVISOR,
  'boot-id-file': CADVISOR,
  'container-hints': CADVISOR,
  containerd: CADVISOR,
  'containerd-namespace': CADVISOR,
  'enable-load-reader': {...CADVISOR, isSwitch: true},
  'event-storage-age-limit': CADVISOR,
  'event-storage-event-limit': CADVISOR,
  'exit-on-lock-contention': {reason: 'kcri always locks its root directory', isSwitch: true},
  'experimental-allocatable-ignore-eviction': {
    reason: 'allocatable resources always exclude the hard eviction thresholds',
    isSwitch: true,
    deprecation: 'unused',
  },
  'experimental-mounter-path': {reason: 'kcri mounts volumes itself', deprecation: 'csi'},
  'global-housekeeping-interval': CADVISOR,
  'housekeeping-interval': HOUSEKEEPING,
  'lock-file': {reason: 'kcri locks its root directory'},
  'log-cadvisor-usage': {...CADVISOR, isSwitch: true},
  'log-json-info-buffer-size': ONE_STREAM,
  'log-json-split-stream': {...ONE_STREAM, isSwitch: true},
  'log-text-info-buffer-size': ONE_STREAM,
  'log-text-split-stream': {...ONE_STREAM, isSwitch: true},
  'machine-id-file': CADVISOR,
  'max-housekeeping-interval': HOUSEKEEPING,
  'runtime-cgroups': {reason: "the runtime's cgroup is not observed, and its processes are not moved"},
  'storage-driver-buffer-duration': STORAGE,
  'storage-driver-db': STORAGE,
  'storage-driver-host': STORAGE,
  'storage-driver-password': STORAGE,
  'storage-driver-secure': {...STORAGE, isSwitch: true},
  'storage-driver-table': STORAGE,
  'storage-driver-user': STORAGE,
};

/** Flags that earlier kubelets had. kcri accepts them under its own name, so that old command lines work. */
const REMOVED: Readonly<Record<string, WithoutEffect>> = {
  'register-schedulable': {reason: 'it has been removed from Kubernetes; use --register-with-taints'},
  'cloud-config': {reason: 'built-in cloud providers have been removed from Kubernetes'},
  'keep-terminated-pod-volumes': {reason: 'volumes of terminated pods are always removed'},
  'container-runtime': {reason: 'only CRI runtimes are supported'},
  'pod-infra-container-image': {reason: 'the configuration of the runtime sets the image'},
};

const WITHOUT_EFFECT: Readonly<Record<string, WithoutEffect>> = {...PRESENT, ...REMOVED};

const helpOf = (reason: string) => ({helpGroup: 'IGNORED', description: `Has no effect: ${reason}.`});

/** Flags that kcri accepts and ignores, so that command lines of a kubelet work. */
export const IGNORED_FLAGS = Object.fromEntries(
  Object.entries(WITHOUT_EFFECT).map(([name, {reason, isSwitch}]) => [
    name,
    isSwitch === true
      ? Flags.boolean({...helpOf(reason), default: noDefault})
      : Flags.string({...helpOf(reason), helpValue: 'VALUE'}),
  ]),
);

type Given = Readonly<Record<string, unknown>>;

/** Flag that has no effect, and the reason. */
export interface IgnoredFlag {
  readonly flag: string;
  readonly reason: string;
}

/** Returns the given flags that have no effect. */
export function listIgnoredFlags(flags: Given): readonly IgnoredFlag[] {
  return Object.entries(WITHOUT_EFFECT).flatMap(([name, {reason}]) =>
    flags[name] === undefined ? [] : [{flag: `--${name}`, reason}],
  );
}

/** Reports whether kubelet 1.36 does not have the flag any more. */
export function isRemovedFlag(name: string): boolean {
  return Object.hasOwn(REMOVED, name);
}

/** Returns why a flag without effect is deprecated; undefined if it is not, or has an effect. */
export function ignoredFlagDeprecation(name: string): Deprecation | undefined {
  return PRESENT[name]?.deprecation;
}
