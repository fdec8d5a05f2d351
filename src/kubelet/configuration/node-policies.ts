import {ConfigError} from '../../base/errors.js';
import type {NodeFacts} from '../contract/node-facts.js';
import type {ShutdownPeriod, ShutdownPolicy} from '../contract/resources/shutdown-policy.js';
import {SYSTEM_CRITICAL_PRIORITY} from '../resources/system-critical-priority.js';
import {parseDuration} from '../../format/duration.js';
import {isGateEnabled} from './feature-gates.js';
import type {ConfigValues} from './fields-and-defaults/kubelet-config-defaults.js';

/**
 * Returns how the node treats containers by its configuration. Throws ConfigError if the kernel cannot do it (server.go run,
 * validation_linux.go).
 */
export function createNodePolicies(
  values: ConfigValues,
  {version}: Pick<NodeFacts['cgroup'], 'version'>,
): Pick<NodeFacts, 'containerPolicy' | 'shutdown' | 'idsPerUserNamespace'> {
  const {singleProcessOOMKill, memoryReservationPolicy, memoryThrottlingFactor} = values;
  const swapBehavior = values['memorySwap.swapBehavior'] === 'LimitedSwap' ? 'LimitedSwap' : 'NoSwap';
  if (version === 1 && values.failCgroupV1)
    throw new ConfigError(
      'kubelet is configured to not run on a host using cgroup v1. cgroup v1 support is unsupported and will be removed in a future release',
      {hint: 'remove failCgroupV1 from the configuration, or boot the node with cgroup v2'},
    );
  if (version === 1 && singleProcessOOMKill === false)
    throw new ConfigError(
      'invalid configuration: singleProcessOOMKill must not be explicitly set to false when using cgroup v1',
      {hint: 'remove singleProcessOOMKill from the configuration'},
    );
  if (version === 1 && swapBehavior === 'LimitedSwap')
    throw new ConfigError('swap feature is enabled and LimitedSwap but it is only supported with cgroupv2', {
      hint: 'remove memorySwap.swapBehavior from the configuration, or boot the node with cgroup v2',
    });
  return {
    containerPolicy: {
      enforcesCpuLimits: values.cpuCFSQuota,
      cpuPeriodMicros: (parseDuration(values.cpuCFSQuotaPeriod) ?? 0n) / 1000n,
      singleProcessOomKill: singleProcessOOMKill ?? version === 1,
      swapBehavior,
      memoryQos: isGateEnabled(values, 'MemoryQoS')
        ? {
            protectsRequests: memoryReservationPolicy === 'TieredReservation',
            throttlingFactor: memoryThrottlingFactor,
          }
        : undefined,
    },
    idsPerUserNamespace: values['userNamespaces.idsPerPod'],
    shutdown: isGateEnabled(values, 'GracefulNodeShutdown') ? createShutdownPolicy(values) : undefined,
  };
}

/** Returns the periods by priority; without any, those of the two other fields (podManager migrateConfig). */
function createShutdownPolicy(values: ConfigValues): ShutdownPolicy {
  const {shutdownGracePeriodByPodPriority: configured} = values;
  const requestedNanos = parseDuration(values.shutdownGracePeriod) ?? 0n;
  const criticalNanos = parseDuration(values.shutdownGracePeriodCriticalPods) ?? 0n;
  const hasPriorities = isGateEnabled(values, 'GracefulNodeShutdownBasedOnPodPriority');
  const periods = hasPriorities ? configured.toSorted((one, other) => one.priority - other.priority) : [];
  return {
    requestedNanos,
    criticalNanos,
    periods: periods.length > 0 ? periods : periodsOf(requestedNanos, criticalNanos),
    recordsTimes: hasPriorities,
  };
}

/** Returns the periods of ordinary and of critical pods, in whole seconds. */
function periodsOf(requestedNanos: bigint, criticalNanos: bigint): readonly ShutdownPeriod[] {
  if (requestedNanos === 0n || criticalNanos > requestedNanos) return [];
  return [
    {priority: 0, shutdownGracePeriodSeconds: Number((requestedNanos - criticalNanos) / NANOS_PER_SECOND)},
    {
      priority: SYSTEM_CRITICAL_PRIORITY,
      shutdownGracePeriodSeconds: Number(criticalNanos / NANOS_PER_SECOND),
    },
  ];
}

const NANOS_PER_SECOND = 1_000_000_000n;
