import {isHugePageResource} from '../../api/resource-list.js';
import {quantityValue} from '../../api/quantity.js';
import type {Pod} from '../../api/v1.js';
import type {ResourceList} from '../../api/v1-meta.js';
import type {CgroupLimits} from '../container/cgroup-limits.js';
import type {NodeFacts} from '../container/node.js';
import {CPU_PERIOD, cpuQuota, cpuShares, hugePageSizeName, MIN_SHARES} from './linux-resources.js';
import {podQosClass} from './qos.js';
import {cpuMilli, isPositive, memoryBytes, podLimits, podRequests} from './resource-amounts.js';

/** What the pod's cgroup is limited to (cm ResourceConfigForPod), overhead included. */
export function podCgroupLimits(
  pod: Pod,
  {hugePageSizes, podPidsLimit}: Pick<NodeFacts, 'hugePageSizes' | 'podPidsLimit'>,
): CgroupLimits {
  const requests = podRequests(pod);
  const qos = podQosClass(pod);
  return {
    cpuShares: qos === 'BestEffort' ? MIN_SHARES : cpuShares(cpuMilli(requests)),
    ...(qos === 'BestEffort' ? {} : bounds(pod, qos === 'Guaranteed')),
    ...(podPidsLimit !== undefined && {pids: podPidsLimit}),
    hugePages: hugePageBytes(requests, hugePageSizes),
  };
}

/** A Burstable pod is only bound where every one of its containers is, or where it says so itself. */
function bounds(pod: Pod, guaranteed: boolean): Pick<CgroupLimits, 'cpuQuota' | 'memoryBytes'> {
  const limits = podLimits(pod);
  const bound = (name: 'cpu' | 'memory'): boolean => guaranteed || isBound(pod, name);
  return {
    ...(bound('cpu') && {cpuQuota: {quota: cpuQuota(cpuMilli(limits)), period: CPU_PERIOD}}),
    ...(bound('memory') && {memoryBytes: memoryBytes(limits)}),
  };
}

function isBound({spec}: Pod, name: 'cpu' | 'memory'): boolean {
  const {containers, initContainers = [], resources} = spec;
  return (
    isPositive(resources?.limits?.[name]) ||
    [...containers, ...initContainers].every((container) => isPositive(container.resources?.limits?.[name]))
  );
}

/** Of each size of the node what is asked for, else nothing. */
function hugePageBytes(requests: ResourceList, sizes: readonly string[]): ReadonlyMap<string, bigint> {
  const asked = new Map(
    Object.entries(requests)
      .filter(([name]) => isHugePageResource(name))
      .map(([name, amount]) => [hugePageSizeName(name), quantityValue(amount)]),
  );
  return new Map(sizes.map((size) => [size, asked.get(size) ?? 0n]));
}
