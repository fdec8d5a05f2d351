import {ConfigError} from '../../base/errors.js';
import type {NodeFacts} from '../contract/node-facts.js';
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
): Pick<NodeFacts, 'containerPolicy'> {
  const {singleProcessOOMKill, memoryReservationPolicy, memoryThrottlingFactor} = values;
  const swapBehavior = values['memorySwap.swapBehavior'] === 'LimitedSwap' ? 'LimitedSwap' : 'NoSwap';
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
  };
}
