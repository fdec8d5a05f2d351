import {parseDuration} from '../../format/duration.js';
import {between, honoured, ignored, notNegative, oneOf, unsupported} from './field.js';
import {
  ANYTHING,
  BOOL,
  DURATION,
  FLOAT,
  INT32,
  INT64,
  QUANTITY,
  TEXT,
  TEXTS,
  TEXT_MAP,
  THRESHOLDS,
} from './types.js';

const PINNING = 'no CPUs, memory or devices are assigned to containers for their own use';
const EVICTION =
  'a kubelet evicts no static pods, and there are no others; what pods may have of the node is computed with the default thresholds';
const RESERVED = 'pods may have the whole node';
const SHUTDOWN = "the node's shutdown is not delayed";
const MEMORY_QOS = 'its feature gate is off';

const percent = between(0, 100);
const seconds = (value: string): number => Number(parseDuration(value) ?? 0n) / 1e9;

/** What pods may have of the node, and how they are run. */
export const NODE_FIELDS = {
  registryPullQPS: honoured(INT32, 5, {flag: 'registry-qps', check: notNegative}),
  registryBurst: honoured(INT32, 10, {flag: 'registry-burst', check: notNegative}),
  imagePullCredentialsVerificationPolicy: honoured(TEXT, 'NeverVerifyPreloadedImages', {
    check: oneOf('NeverVerify', 'NeverVerifyPreloadedImages', 'NeverVerifyAllowlistedImages', 'AlwaysVerify'),
  }),
  preloadedImagesVerificationAllowlist: honoured(TEXTS, []),
  serializeImagePulls: honoured(BOOL, undefined, {flag: 'serialize-image-pulls'}),
  maxParallelImagePulls: honoured(INT32, undefined, {
    check: (value) => (value < 1 ? `${value} must be a positive number` : undefined),
  }),
  imageMinimumGCAge: honoured(DURATION, '2m0s', {flag: 'minimum-image-ttl-duration', live: true}),
  imageMaximumGCAge: honoured(DURATION, '0s', {live: true}),
  imageGCHighThresholdPercent: honoured(INT32, 85, {
    flag: 'image-gc-high-threshold',
    live: true,
    check: percent,
  }),
  imageGCLowThresholdPercent: honoured(INT32, 80, {
    flag: 'image-gc-low-threshold',
    live: true,
    check: percent,
  }),
  oomScoreAdj: honoured(INT32, -999, {flag: 'oom-score-adj', check: between(-1000, 1000)}),
  maxOpenFiles: unsupported("the process's limit is its service's (LimitNOFILE=)", INT64, 1_000_000, {
    flag: 'max-open-files',
    check: notNegative,
  }),
  kubeletCgroups: unsupported('it stays in the cgroup that it was started in', TEXT, '', {
    flag: 'kubelet-cgroups',
  }),
  systemCgroups: unsupported('no processes are moved', TEXT, '', {flag: 'system-cgroups'}),
  cgroupRoot: honoured(TEXT, '', {flag: 'cgroup-root'}),
  cgroupsPerQOS: ignored('pods always have cgroups by their QoS class', BOOL, true, {
    flag: 'cgroups-per-qos',
  }),
  cgroupDriver: honoured(TEXT, '', {flag: 'cgroup-driver', check: oneOf('', 'cgroupfs', 'systemd')}),
  cpuManagerPolicy: unsupported(PINNING, TEXT, 'none', {flag: 'cpu-manager-policy'}),
  cpuManagerPolicyOptions: unsupported(PINNING, TEXT_MAP, {}, {flag: 'cpu-manager-policy-options'}),
  cpuManagerReconcilePeriod: unsupported(PINNING, DURATION, '10s', {flag: 'cpu-manager-reconcile-period'}),
  draManagerReconcilePeriod: unsupported(PINNING, DURATION, '1m0s'),
  memoryManagerPolicy: unsupported(PINNING, TEXT, 'None', {flag: 'memory-manager-policy'}),
  reservedMemory: unsupported(PINNING, ANYTHING, undefined, {flag: 'reserved-memory'}),
  topologyManagerPolicy: unsupported(PINNING, TEXT, 'none', {
    flag: 'topology-manager-policy',
    check: oneOf('none', 'best-effort', 'restricted', 'single-numa-node'),
  }),
  topologyManagerScope: unsupported(PINNING, TEXT, 'container', {
    flag: 'topology-manager-scope',
    check: oneOf('container', 'pod'),
  }),
  topologyManagerPolicyOptions: unsupported(PINNING, TEXT_MAP, {}, {flag: 'topology-manager-policy-options'}),
  singleProcessOOMKill: unsupported("the runtime's default holds", BOOL, undefined),
  qosReserved: unsupported('its feature gate is off', TEXT_MAP, {}, {flag: 'qos-reserved'}),
  maxPods: honoured(INT32, 110, {flag: 'max-pods', check: notNegative}),
  podsPerCore: honoured(INT32, 0, {flag: 'pods-per-core', check: notNegative}),
  podPidsLimit: honoured(INT64, -1, {flag: 'pod-max-pids'}),
  cpuCFSQuota: unsupported('CPU limits always hold', BOOL, true, {flag: 'cpu-cfs-quota'}),
  cpuCFSQuotaPeriod: unsupported('the period is 100ms', DURATION, '100ms', {flag: 'cpu-cfs-quota-period'}),
  evictionHard: unsupported(EVICTION, THRESHOLDS, {}, {flag: 'eviction-hard'}),
  evictionSoft: unsupported(EVICTION, THRESHOLDS, {}, {flag: 'eviction-soft'}),
  evictionSoftGracePeriod: unsupported(EVICTION, TEXT_MAP, {}, {flag: 'eviction-soft-grace-period'}),
  evictionPressureTransitionPeriod: unsupported(EVICTION, DURATION, '5m0s', {
    flag: 'eviction-pressure-transition-period',
  }),
  evictionMaxPodGracePeriod: unsupported(EVICTION, INT32, 0, {flag: 'eviction-max-pod-grace-period'}),
  evictionMinimumReclaim: unsupported(EVICTION, TEXT_MAP, {}, {flag: 'eviction-minimum-reclaim'}),
  mergeDefaultEvictionSettings: unsupported(EVICTION, BOOL, false),
  kernelMemcgNotification: unsupported(EVICTION, BOOL, false, {flag: 'kernel-memcg-notification'}),
  systemReserved: unsupported(RESERVED, TEXT_MAP, {}, {flag: 'system-reserved'}),
  kubeReserved: unsupported(RESERVED, TEXT_MAP, {}, {flag: 'kube-reserved'}),
  reservedSystemCPUs: unsupported(RESERVED, TEXT, '', {flag: 'reserved-cpus'}),
  systemReservedCgroup: unsupported(RESERVED, TEXT, '', {flag: 'system-reserved-cgroup'}),
  kubeReservedCgroup: unsupported(RESERVED, TEXT, '', {flag: 'kube-reserved-cgroup'}),
  enforceNodeAllocatable: unsupported('no limit is put on all pods together', TEXTS, ['pods'], {
    flag: 'enforce-node-allocatable',
  }),
  allowedUnsafeSysctls: honoured(TEXTS, [], {flag: 'allowed-unsafe-sysctls'}),
  protectKernelDefaults: unsupported('no settings of the kernel are changed', BOOL, false, {
    flag: 'protect-kernel-defaults',
  }),
  failSwapOn: honoured(BOOL, false, {flag: 'fail-swap-on'}),
  failCgroupV1: unsupported('nodes with cgroup v1 are served too', BOOL, true),
  'memorySwap.swapBehavior': unsupported('containers have no swap', TEXT, '', {
    check: oneOf('', 'NoSwap', 'LimitedSwap'),
  }),
  containerLogMaxSize: honoured(QUANTITY, '10Mi', {flag: 'container-log-max-size', live: true}),
  containerLogMaxFiles: honoured(INT32, 5, {
    flag: 'container-log-max-files',
    live: true,
    check: (value) => (value <= 1 ? 'must be greater than 1' : undefined),
  }),
  containerLogMaxWorkers: honoured(INT32, 1, {
    live: true,
    check: (value) => (value < 1 ? 'must be greater than or equal to 1' : undefined),
  }),
  containerLogMonitorInterval: honoured(DURATION, '10s', {
    live: true,
    check: (value) =>
      seconds(value) < 3 ? 'must be a positive time duration greater than or equal to 3s' : undefined,
  }),
  shutdownGracePeriod: unsupported(SHUTDOWN, DURATION, '0s'),
  shutdownGracePeriodCriticalPods: unsupported(SHUTDOWN, DURATION, '0s'),
  shutdownGracePeriodByPodPriority: unsupported(SHUTDOWN, ANYTHING, undefined),
  'crashLoopBackOff.maxContainerRestartPeriod': honoured(DURATION, '5m0s', {
    check: (value) =>
      seconds(value) < 1 || seconds(value) > 300
        ? `(got: ${seconds(value)} seconds) must be set between 1s and 300s`
        : undefined,
  }),
  seccompDefault: honoured(BOOL, false, {flag: 'seccomp-default'}),
  memoryThrottlingFactor: unsupported(MEMORY_QOS, FLOAT, 0.9),
  memoryReservationPolicy: unsupported(MEMORY_QOS, TEXT, 'None', {check: oneOf('None', 'TieredReservation')}),
  localStorageCapacityIsolation: unsupported('the use of local storage is not limited', BOOL, true, {
    flag: 'local-storage-capacity-isolation',
  }),
  'userNamespaces.idsPerPod': unsupported('a pod has 65536 of them', INT64, 65_536),
};
