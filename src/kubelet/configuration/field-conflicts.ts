import {compareQuantities} from '../../api/quantity.js';
import {isHugePageResource} from '../../api/resource-list.js';
import {messageOf} from '../../base/errors.js';
import {formatDuration, parseDuration} from '../../format/duration.js';
import {parseCpuSet} from '../resources/cpu-set.js';
import {isGateEnabled} from './feature-gates.js';
import type {ConfigValues} from './fields-and-defaults/kubelet-config-defaults.js';

/**
 * Returns the kubelet's messages for fields that are invalid in combination (validation.go
 * ValidateKubeletConfiguration).
 */
export function findFieldConflicts(values: ConfigValues): readonly string[] {
  const found: (string | false)[] = [
    imageGc(values),
    imageAge(values),
    values.serializeImagePulls === true &&
      (values.maxParallelImagePulls ?? 1) > 1 &&
      'maxParallelImagePulls cannot be larger than 1 unless SerializeImagePulls (--serialize-image-pulls) is set to false',
    values.systemCgroups !== '' &&
      values.cgroupRoot === '' &&
      'systemCgroups (--system-cgroups) was specified and cgroupRoot (--cgroup-root) was not specified',
    values.preloadedImagesVerificationAllowlist.length > 0 &&
      values.imagePullCredentialsVerificationPolicy !== 'NeverVerifyAllowlistedImages' &&
      'can\'t set `preloadedImagesVerificationAllowlist` if `imagePullCredentialsVertificationPolicy` is not "NeverVerifyAllowlistedImages"',
    values.enableSystemLogQuery &&
      !values.enableSystemLogHandler &&
      'enableSystemLogHandler is required for enableSystemLogQuery',
    vmodule(values),
    ...nodeAllocatable(values),
    ...reservedCpus(values),
    ...reservedMemory(values),
    softEviction(values),
    ...cpuQuota(values),
    ...memory(values),
    ...shutdown(values),
    (values.tlsCertFile === '') !== (values.tlsPrivateKeyFile === '') &&
      'tlsCertFile (--tls-cert-file) and tlsPrivateKeyFile (--tls-private-key-file) must be specified together',
  ];
  return found.filter((text) => text !== false);
}

function reservedCpus({
  reservedSystemCPUs: cpus,
  systemReservedCgroup,
  kubeReservedCgroup,
}: ConfigValues): readonly (string | false)[] {
  if (cpus === '') return [];
  return [
    (systemReservedCgroup !== '' || kubeReservedCgroup !== '') &&
      "can't use reservedSystemCPUs (--reserved-cpus) with systemReservedCgroup (--system-reserved-cgroup) or kubeReservedCgroup (--kube-reserved-cgroup)",
    unparsable(cpus),
  ];
}

/** Finds reservations of memory that are zero, repeated or of something else (validateReservedMemoryConfiguration). */
function reservedMemory({reservedMemory: reservations}: ConfigValues): readonly string[] {
  const known = new Set<string>();
  return reservations.flatMap(({numaNode, limits}) =>
    Object.entries(limits).flatMap(([type, quantity]) => {
      const where = `NUMA node ${numaNode} and resource ${JSON.stringify(type)}`;
      const isRepeated = known.has(where);
      known.add(where);
      return [
        ...(type !== 'memory' && !isHugePageResource(type)
          ? [
              `the limit type ${JSON.stringify(type)} for NUMA node ${numaNode} is not supported, only [memory hugepages-<HugePageSize>] is accepted`,
            ]
          : []),
        ...(compareQuantities(quantity, '0') === 0 ? [`reserved memory may not be zero for ${where}`] : []),
        ...(isRepeated ? [`the reserved memory has a duplicate value for ${where}`] : []),
      ];
    }),
  );
}

function unparsable(cpus: string): string | false {
  try {
    parseCpuSet(cpus);
    return false;
  } catch (error) {
    return `unable to parse reservedSystemCPUs (--reserved-cpus) ${cpus}, error: ${messageOf(error)}`;
  }
}

function vmodule({'logging.format': format, 'logging.vmodule': items}: ConfigValues): string | false {
  return (
    format === 'json' &&
    items.length > 0 &&
    'logging.vmodule (--vmodule) is only supported for the text log format'
  );
}

function imageGc({
  imageGCLowThresholdPercent: low,
  imageGCHighThresholdPercent: high,
}: ConfigValues): string | false {
  return (
    low >= high &&
    `imageGCLowThresholdPercent (--image-gc-low-threshold) ${low} must be less than imageGCHighThresholdPercent (--image-gc-high-threshold) ${high}`
  );
}

function imageAge({imageMinimumGCAge: min, imageMaximumGCAge: max}: ConfigValues): string | false {
  return (
    nanos(max) > 0n &&
    nanos(max) <= nanos(min) &&
    `imageMaximumGCAge ${formatDuration(nanos(max))} must be greater than imageMinimumGCAge ${formatDuration(nanos(min))}`
  );
}

const nanos = (duration: string): bigint => parseDuration(duration) ?? 0n;

/** Formats a duration as Go prints metav1.Duration, a struct. */
const printed = (duration: string): string => `{${formatDuration(nanos(duration))}}`;

const DEFAULT_QUOTA_PERIOD = nanos('100ms');

function cpuQuota(values: ConfigValues): readonly (string | false)[] {
  const text = values.cpuCFSQuotaPeriod;
  const period = nanos(text);
  const isAllowed = isGateEnabled(values, 'CustomCPUCFSQuotaPeriod');
  const name = `cpuCFSQuotaPeriod (--cpu-cfs-quota-period) ${printed(text)}`;
  return [
    !isAllowed && period !== DEFAULT_QUOTA_PERIOD && `${name} requires feature gate CustomCPUCFSQuotaPeriod`,
    isAllowed &&
      (period < nanos('1ms') || period > nanos('1s')) &&
      `${name} must be between 1ms and 1sec, inclusive`,
  ];
}

function memory(values: ConfigValues): readonly (string | false)[] {
  const {'memorySwap.swapBehavior': swap, memoryReservationPolicy: policy} = values;
  const hasSwapGate = isGateEnabled(values, 'NodeSwap');
  return [
    hasSwapGate &&
      !['', 'NoSwap', 'LimitedSwap'].includes(swap) &&
      `memorySwap.swapBehavior ${JSON.stringify(swap)} must be one of: "", "LimitedSwap" or "NoSwap"`,
    !hasSwapGate &&
      swap !== '' &&
      'memorySwap.swapBehavior cannot be set when NodeSwap feature flag is disabled',
    policy === 'TieredReservation' &&
      !isGateEnabled(values, 'MemoryQoS') &&
      `memoryReservationPolicy ${JSON.stringify(policy)} requires MemoryQoS feature gate to be enabled`,
    !['None', 'TieredReservation'].includes(policy) &&
      `option ${JSON.stringify(policy)} specified for memoryReservationPolicy. Valid options are "None" or "TieredReservation"`,
  ];
}

function shutdown(values: ConfigValues): readonly (string | false)[] {
  const {shutdownGracePeriod: all, shutdownGracePeriodCriticalPods: critical} = values;
  const isByTime = nanos(all) > 0n || nanos(critical) > 0n;
  const isByPriority = values.shutdownGracePeriodByPodPriority.length > 0;
  const hasPriorities = isGateEnabled(values, 'GracefulNodeShutdownBasedOnPodPriority');
  return [
    nanos(critical) > nanos(all) &&
      `shutdownGracePeriodCriticalPods ${printed(critical)} must be <= shutdownGracePeriod ${printed(all)}`,
    isByTime &&
      !isGateEnabled(values, 'GracefulNodeShutdown') &&
      'specifying shutdownGracePeriod or shutdownGracePeriodCriticalPods requires feature gate GracefulNodeShutdown',
    isByPriority &&
      isByTime &&
      hasPriorities &&
      'Cannot specify both shutdownGracePeriodByPodPriority and shutdownGracePeriod at the same time',
    isByPriority &&
      !hasPriorities &&
      'Specifying shutdownGracePeriodByPodPriority requires feature gate GracefulNodeShutdownBasedOnPodPriority',
  ];
}

/** Finds a soft threshold without a grace period (ParseThresholdConfig). */
function softEviction({evictionSoft, evictionSoftGracePeriod: graces}: ConfigValues): string | false {
  const without = Object.keys(evictionSoft).find((signal) => !Object.hasOwn(graces, signal));
  return (
    without !== undefined &&
    `grace period must be specified for the soft eviction threshold ${without} in evictionSoftGracePeriod (--eviction-soft-grace-period)`
  );
}

const RESERVED_KINDS = ['system', 'kube'] as const;
const FIELD = 'enforceNodeAllocatable (--enforce-node-allocatable)';
const ENFORCEMENTS = [
  ...[
    'pods',
    'system-reserved',
    'system-reserved-compressible',
    'kube-reserved',
    'kube-reserved-compressible',
  ],
  'none',
];

function nodeAllocatable(values: ConfigValues): readonly (string | false)[] {
  const {enforceNodeAllocatable: enforced} = values;
  const unknown = enforced.find((name) => !ENFORCEMENTS.includes(name));
  const repeated = enforced.find((name, index) => enforced.indexOf(name) !== index);
  const effective = enforced.filter((name) => name !== 'none' && ENFORCEMENTS.includes(name));
  const quoted = ENFORCEMENTS.map((name) => `"${name}"`);
  return [
    ...RESERVED_KINDS.flatMap((kind) => reservedCgroup(values, kind)),
    repeated !== undefined && `duplicated enforcements "${repeated}" in ${FIELD}`,
    ...effective.map(
      (name) =>
        !values.cgroupsPerQOS &&
        `cgroupsPerQOS (--cgroups-per-qos) must be set to true when "${name}" contained in ${FIELD}`,
    ),
    enforced.includes('none') &&
      enforced.length > 1 &&
      `${FIELD} may not contain additional enforcements when "none" is specified`,
    unknown !== undefined &&
      `option "${unknown}" specified for ${FIELD}. Valid options are ${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1) ?? ''}`,
  ];
}

function reservedCgroup(values: ConfigValues, kind: 'system' | 'kube'): readonly (string | false)[] {
  const [all, compressible] = [`${kind}-reserved`, `${kind}-reserved-compressible`];
  const enforced = [all, compressible].filter((name) => values.enforceNodeAllocatable.includes(name));
  return [
    enforced.length === 2 && `both "${all}" and "${compressible}" cannot be specified together in ${FIELD}`,
    enforced.length > 0 &&
      values[`${kind}ReservedCgroup`] === '' &&
      `${kind}ReservedCgroup (--${kind}-reserved-cgroup) must be specified when "${all}" or "${compressible}" included in ${FIELD}`,
  ];
}
