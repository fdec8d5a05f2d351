import {containersOf} from '../../../../../api/pod-containers.js';
import type {Pod} from '../../../../../api/types/v1-pod.js';
import type {CgroupLimits} from '../../../../contract/resources/cgroup-limits.js';
import type {NodeFacts} from '../../../../contract/node-facts.js';
import {hugePageAmounts} from '../../../../resources/huge-pages.js';
import {
  DEFAULT_CONTAINER_POLICY,
  type ContainerPolicy,
} from '../../../../contract/resources/container-policy.js';
import {milliCpuToQuota} from './linux-resources.js';
import {MIN_CPU_SHARES, milliCpuToShares} from '../../../../resources/cpu-shares.js';
import {computePodQosClass} from '../../../../resources/qos-class.js';
import {
  cpuMilli,
  isPositive,
  memoryBytes,
  podLimits,
  podRequests,
} from '../../../../resources/resource-amounts.js';

/** Quota of a pod that may use all CPUs. */
export const UNLIMITED = -1n;

/** Computes the limits of a pod's cgroup, including overhead (cm ResourceConfigForPod). */
export function podCgroupLimits(
  pod: Pod,
  {
    hugePageSizes,
    podPidsLimit,
    containerPolicy = DEFAULT_CONTAINER_POLICY,
  }: Pick<NodeFacts, 'hugePageSizes' | 'podPidsLimit' | 'containerPolicy'>,
): CgroupLimits {
  const requests = podRequests(pod);
  const qos = computePodQosClass(pod);
  return {
    cpuShares: qos === 'BestEffort' ? MIN_CPU_SHARES : milliCpuToShares(cpuMilli(requests)),
    ...(qos === 'BestEffort' ? {} : limitsOf(pod, qos === 'Guaranteed', containerPolicy)),
    ...(podPidsLimit !== undefined && {pids: podPidsLimit}),
    hugePages: hugePageAmounts(requests, hugePageSizes),
  };
}

/**
 * Returns the limits of a pod. A Burstable pod is limited only if all its containers are, or by pod-level resources.
 */
function limitsOf(
  pod: Pod,
  guaranteed: boolean,
  {enforcesCpuLimits, cpuPeriodMicros: period}: ContainerPolicy,
): Pick<CgroupLimits, 'cpuQuota' | 'memoryBytes'> {
  const limits = podLimits(pod);
  const isLimited = (name: 'cpu' | 'memory'): boolean => guaranteed || hasLimit(pod, name);
  return {
    ...(isLimited('cpu') && {
      cpuQuota: {
        quota: enforcesCpuLimits ? milliCpuToQuota(cpuMilli(limits), period) : UNLIMITED,
        period,
      },
    }),
    ...(isLimited('memory') && {memoryBytes: memoryBytes(limits)}),
  };
}

function hasLimit(pod: Pod, name: 'cpu' | 'memory'): boolean {
  return (
    isPositive(pod.spec.resources?.limits?.[name]) ||
    containersOf(pod).every(({resources}) => isPositive(resources?.limits?.[name]))
  );
}
