import {compareQuantities, quantityMilliValue, quantityValue} from '../../api/quantity.js';
import {addResources, aggregateContainerResources, isPodLevelResource} from '../../api/resource-list.js';
import type {Pod} from '../../api/types/v1-pod.js';
import type {Quantity, ResourceList, ResourceRequirements} from '../../api/types/v1-meta.js';

/** Fields of ResourceRequirements that hold amounts. */
export type ResourceKind = keyof Pick<ResourceRequirements, 'requests' | 'limits'>;

/** Reports whether a quantity is greater than zero. */
export function isPositive(quantity: Quantity | undefined): quantity is Quantity {
  return quantity !== undefined && compareQuantities(quantity, '0') > 0;
}

/** Returns the limit of a container, or the pod's if it has none; 0 without any. */
export function effectiveLimit(
  name: 'cpu' | 'memory',
  limits: ResourceList | undefined,
  pod: ResourceRequirements | undefined,
): Quantity {
  const own = limits?.[name];
  return isPositive(own) ? own : (pod?.limits?.[name] ?? '0');
}

/** Returns the resources of a container, with the pod's limits where it has none (kubelet util GetLimits). */
export function withPodLimits(
  resources: ResourceRequirements = {},
  pod: ResourceRequirements | undefined,
): ResourceRequirements {
  if (pod?.limits === undefined) return resources;
  const limits: Record<string, Quantity> = {...resources.limits};
  for (const name of ['cpu', 'memory'] as const) {
    const limit = effectiveLimit(name, resources.limits, pod);
    if (isPositive(limit)) limits[name] = limit;
  }
  return {...resources, limits};
}

/** Returns the milli-CPUs of a resource list; 0 without CPU. */
export function cpuMilli(list: ResourceList | undefined): bigint {
  return quantityMilliValue(list?.['cpu'] ?? '0');
}

/** Returns the bytes of memory of a resource list; 0 without memory. */
export function memoryBytes(list: ResourceList | undefined): bigint {
  return quantityValue(list?.['memory'] ?? '0');
}

/**
 * Returns the requests or limits of a whole pod without overhead (component-helpers resource PodRequests, PodLimits):
 * the pod-level amount of a resource, or the aggregate of its containers.
 */
export function podResources({spec}: Pod, kind: ResourceKind): ResourceList {
  return {...aggregateContainerResources(spec, kind), ...spec.resources?.[kind]};
}

/** Returns the requests of a whole pod with overhead (component-helpers resource PodRequests). */
export function podRequests(pod: Pod): ResourceList {
  return addResources(podResources(pod, 'requests'), pod.spec.overhead ?? {});
}

/**
 * Returns the limits of a whole pod, with overhead for each limited resource (component-helpers resource PodLimits).
 */
export function podLimits(pod: Pod): ResourceList {
  const limits = podResources(pod, 'limits');
  const overhead = Object.entries(pod.spec.overhead ?? {}).filter(([name]) => isPositive(limits[name]));
  return addResources(limits, Object.fromEntries(overhead));
}

/** Reports whether a pod has resources of its own (component-helpers resource IsPodLevelResourcesSet). */
export function hasPodLevelResources({spec: {resources}}: Pod): boolean {
  return [resources?.requests, resources?.limits].some((list) =>
    Object.keys(list ?? {}).some(isPodLevelResource),
  );
}
