import {compareQuantities, parseQuantity} from '../../../api/quantity.js';
import {messageOf} from '../../../base/errors.js';
import {parseDuration} from '../../../format/duration.js';
import {
  DEFAULT_EVICTION_HARD,
  parseGracePeriods,
  parseMinimumReclaims,
  parseThresholds,
} from '../../resources/eviction-thresholds.js';
import {parseQosReserved} from '../../resources/qos-requests.js';
import {between, honored, ignored, notNegative, oneOf, problemOf} from '../config-field.js';
import {
  BOOL,
  DURATION,
  FLOAT,
  INT32,
  INT64,
  MEMORY_RESERVATIONS,
  QUANTITY,
  SHUTDOWN_PERIODS,
  TEXT,
  TEXTS,
  TEXT_MAP,
  THRESHOLDS,
  pointer,
} from '../config-field-types.js';

const DRA = 'the period is one minute, as in a kubelet 1.36';

/** Number of IDs of a user namespace must be a multiple of it. */
const USER_NAMESPACE_UNIT = 65_536;

/** Returns the kubelet's message for an invalid userNamespaces.idsPerPod (validation_linux.go). */
function idsPerPodProblem(value: number): string | undefined {
  if (value < USER_NAMESPACE_UNIT) return `must not be less than ${USER_NAMESPACE_UNIT}`;
  if (value % USER_NAMESPACE_UNIT !== 0) return `must be a multiple of ${USER_NAMESPACE_UNIT}`;
  return value >= 2 ** 32 ? `must not be more than ${2 ** 32 - 1}` : undefined;
}

const percent = between(0, 100);
const seconds = (value: string): number => Number(parseDuration(value) ?? 0n) / 1e9;

const zeroOrSeconds = (value: string): string | undefined =>
  seconds(value) < 0 || (seconds(value) > 0 && seconds(value) < 1)
    ? `{${value}} must be either zero or otherwise >= 1 sec`
    : undefined;

const RESERVABLE: readonly string[] = ['cpu', 'memory', 'ephemeral-storage', 'pid'];

/** Checks the resources that are reserved (parseResourceList). */
function checkReserved(reserved: Readonly<Record<string, string>>): string | undefined {
  for (const [resource, amount] of Object.entries(reserved)) {
    if (!RESERVABLE.includes(resource)) return `cannot reserve ${JSON.stringify(resource)} resource`;
    try {
      parseQuantity(amount);
    } catch (error) {
      return `failed to parse quantity ${JSON.stringify(amount)} for ${JSON.stringify(resource)} resource: ${messageOf(error)}`;
    }
    if (compareQuantities(amount, '0') < 0)
      return `resource quantity for ${JSON.stringify(resource)} cannot be negative: ${amount}`;
  }
  return undefined;
}

/** Fields for the resources of the node and for running containers and images. */
export const NODE_FIELDS = {
  registryPullQPS: honored(pointer(INT32), 5, {flag: 'registry-qps', check: notNegative}),
  registryBurst: honored(INT32, 10, {flag: 'registry-burst', check: notNegative}),
  imagePullCredentialsVerificationPolicy: honored(TEXT, 'NeverVerifyPreloadedImages', {
    check: oneOf('NeverVerify', 'NeverVerifyPreloadedImages', 'NeverVerifyAllowlistedImages', 'AlwaysVerify'),
  }),
  preloadedImagesVerificationAllowlist: honored(TEXTS, []),
  serializeImagePulls: honored(BOOL, undefined, {flag: 'serialize-image-pulls'}),
  maxParallelImagePulls: honored(pointer(INT32), undefined, {
    check: (value) => (value < 1 ? `${value} must be a positive number` : undefined),
  }),
  imageMinimumGCAge: honored(DURATION, '2m0s', {flag: 'minimum-image-ttl-duration', live: true}),
  imageMaximumGCAge: honored(DURATION, '0s', {live: true}),
  imageGCHighThresholdPercent: honored(pointer(INT32), 85, {
    flag: 'image-gc-high-threshold',
    live: true,
    check: percent,
  }),
  imageGCLowThresholdPercent: honored(pointer(INT32), 80, {
    flag: 'image-gc-low-threshold',
    live: true,
    check: percent,
  }),
  oomScoreAdj: honored(pointer(INT32), -999, {flag: 'oom-score-adj', check: between(-1000, 1000)}),
  maxOpenFiles: honored(INT64, 1_000_000, {flag: 'max-open-files', check: notNegative}),
  kubeletCgroups: honored(TEXT, '', {flag: 'kubelet-cgroups'}),
  systemCgroups: honored(TEXT, '', {flag: 'system-cgroups'}),
  cgroupRoot: honored(TEXT, '', {flag: 'cgroup-root'}),
  cgroupsPerQOS: ignored('QoS cgroups are always created', BOOL, true, {
    flag: 'cgroups-per-qos',
  }),
  cgroupDriver: honored(TEXT, '', {flag: 'cgroup-driver', check: oneOf('', 'cgroupfs', 'systemd')}),
  cpuManagerPolicy: honored(TEXT, 'none', {flag: 'cpu-manager-policy'}),
  cpuManagerPolicyOptions: honored(TEXT_MAP, {}, {flag: 'cpu-manager-policy-options'}),
  cpuManagerReconcilePeriod: honored(DURATION, '10s', {flag: 'cpu-manager-reconcile-period'}),
  draManagerReconcilePeriod: ignored(DRA, DURATION, '1m0s'),
  memoryManagerPolicy: honored(TEXT, 'None', {flag: 'memory-manager-policy'}),
  reservedMemory: honored(MEMORY_RESERVATIONS, [], {flag: 'reserved-memory'}),
  topologyManagerPolicy: honored(TEXT, 'none', {
    flag: 'topology-manager-policy',
    check: oneOf('none', 'best-effort', 'restricted', 'single-numa-node'),
  }),
  topologyManagerScope: honored(TEXT, 'container', {
    flag: 'topology-manager-scope',
    check: oneOf('container', 'pod'),
  }),
  topologyManagerPolicyOptions: honored(TEXT_MAP, {}, {flag: 'topology-manager-policy-options'}),
  singleProcessOOMKill: honored(BOOL, undefined),
  qosReserved: honored(TEXT_MAP, {}, {flag: 'qos-reserved', check: problemOf(parseQosReserved)}),
  maxPods: honored(INT32, 110, {flag: 'max-pods', check: notNegative}),
  podsPerCore: honored(INT32, 0, {flag: 'pods-per-core', check: notNegative}),
  podPidsLimit: honored(pointer(INT64), -1, {flag: 'pod-max-pids'}),
  cpuCFSQuota: honored(BOOL, true, {flag: 'cpu-cfs-quota'}),
  cpuCFSQuotaPeriod: honored(pointer(DURATION), '100ms', {flag: 'cpu-cfs-quota-period'}),
  evictionHard: honored(THRESHOLDS, DEFAULT_EVICTION_HARD, {
    flag: 'eviction-hard',
    check: problemOf(parseThresholds),
  }),
  evictionSoft: honored(THRESHOLDS, {}, {flag: 'eviction-soft', check: problemOf(parseThresholds)}),
  evictionSoftGracePeriod: honored(
    TEXT_MAP,
    {},
    {flag: 'eviction-soft-grace-period', check: problemOf(parseGracePeriods)},
  ),
  evictionPressureTransitionPeriod: honored(DURATION, '5m0s', {
    flag: 'eviction-pressure-transition-period',
  }),
  evictionMaxPodGracePeriod: honored(INT32, 0, {flag: 'eviction-max-pod-grace-period'}),
  evictionMinimumReclaim: honored(
    TEXT_MAP,
    {},
    {flag: 'eviction-minimum-reclaim', check: problemOf(parseMinimumReclaims)},
  ),
  mergeDefaultEvictionSettings: honored(BOOL, false),
  kernelMemcgNotification: honored(BOOL, false, {flag: 'kernel-memcg-notification'}),
  systemReserved: honored(TEXT_MAP, {}, {flag: 'system-reserved', check: checkReserved}),
  kubeReserved: honored(TEXT_MAP, {}, {flag: 'kube-reserved', check: checkReserved}),
  reservedSystemCPUs: honored(TEXT, '', {flag: 'reserved-cpus'}),
  systemReservedCgroup: honored(TEXT, '', {flag: 'system-reserved-cgroup'}),
  kubeReservedCgroup: honored(TEXT, '', {flag: 'kube-reserved-cgroup'}),
  enforceNodeAllocatable: honored(TEXTS, ['pods'], {flag: 'enforce-node-allocatable'}),
  allowedUnsafeSysctls: honored(TEXTS, [], {flag: 'allowed-unsafe-sysctls'}),
  protectKernelDefaults: honored(BOOL, false, {flag: 'protect-kernel-defaults'}),
  failSwapOn: honored(BOOL, false, {flag: 'fail-swap-on'}),
  // A kubelet fails by default; kcri runs on cgroup v1.
  failCgroupV1: honored(BOOL, false, {flag: 'fail-cgroupv1'}),
  'memorySwap.swapBehavior': honored(TEXT, ''),
  containerLogMaxSize: honored(QUANTITY, '10Mi', {flag: 'container-log-max-size', live: true}),
  containerLogMaxFiles: honored(pointer(INT32), 5, {
    flag: 'container-log-max-files',
    live: true,
    check: (value) => (value <= 1 ? 'must be greater than 1' : undefined),
  }),
  containerLogMaxWorkers: honored(pointer(INT32), 1, {
    live: true,
    check: (value) => (value < 1 ? 'must be greater than or equal to 1' : undefined),
  }),
  containerLogMonitorInterval: honored(pointer(DURATION), '10s', {
    live: true,
    check: (value) =>
      seconds(value) < 3 ? 'must be a positive time duration greater than or equal to 3s' : undefined,
  }),
  shutdownGracePeriod: honored(DURATION, '0s', {check: zeroOrSeconds}),
  shutdownGracePeriodCriticalPods: honored(DURATION, '0s', {check: zeroOrSeconds}),
  shutdownGracePeriodByPodPriority: honored(SHUTDOWN_PERIODS, []),
  'crashLoopBackOff.maxContainerRestartPeriod': honored(pointer(DURATION), '5m0s', {
    check: (value) =>
      seconds(value) < 1 || seconds(value) > 300
        ? `(got: ${seconds(value)} seconds) must be set between 1s and 300s`
        : undefined,
  }),
  seccompDefault: honored(BOOL, false, {flag: 'seccomp-default'}),
  memoryThrottlingFactor: honored(pointer(FLOAT), 0.9, {
    check: (value) =>
      value <= 0 || value > 1 ? `${value} must be greater than 0 and less than or equal to 1.0` : undefined,
  }),
  memoryReservationPolicy: honored(TEXT, 'None'),
  localStorageCapacityIsolation: honored(BOOL, true, {flag: 'local-storage-capacity-isolation'}),
  'userNamespaces.idsPerPod': honored(pointer(INT64), 65_536, {check: idsPerPodProblem}),
};
