import {compareQuantities, quantityMilliValue, quantityValue} from '../../api/quantity.js';
import {addResources, aggregateContainerResources} from '../../api/resource-list.js';
import type {Pod} from '../../api/v1.js';
import type {Quantity, ResourceList, ResourceRequirements} from '../../api/v1-meta.js';

/** The two halves of resources. */
export type ResourceKind = keyof Pick<ResourceRequirements, 'requests' | 'limits'>;

/** More than nothing. */
export function isPositive(quantity: Quantity | undefined): quantity is Quantity {
  return quantity !== undefined && compareQuantities(quantity, '0') > 0;
}

/** A limit of a container, or its pod's where it has none; 0 for none at all. */
export function limitOf(
  name: 'cpu' | 'memory',
  limits: ResourceList | undefined,
  pod: ResourceRequirements | undefined,
): Quantity {
  const own = limits?.[name];
  return isPositive(own) ? own : (pod?.limits?.[name] ?? '0');
}

/** Milli-CPUs of a list, 0 when it says nothing. */
export function cpuMilli(list: ResourceList | undefined): bigint {
  return quantityMilliValue(list?.['cpu'] ?? '0');
}

/** Bytes of memory of a list, 0 when it says nothing. */
export function memoryBytes(list: ResourceList | undefined): bigint {
  return quantityValue(list?.['memory'] ?? '0');
}

/**
 * What the whole pod needs, without overhead (component-helpers resource PodRequests and PodLimits): its containers
 * together, or, of a resource that the Pod itself speaks of, what that says.
 */
export function podResources({spec}: Pod, kind: ResourceKind): ResourceList {
  return {...aggregateContainerResources(spec, kind), ...spec.resources?.[kind]};
}

/** What the whole pod asks for, with overhead: what its node counts for it (component-helpers resource PodRequests). */
export function podRequests(pod: Pod): ResourceList {
  return addResources(podResources(pod, 'requests'), pod.spec.overhead ?? {});
}

/** What the whole pod is limited to, with overhead where there is a limit (component-helpers resource PodLimits). */
export function podLimits(pod: Pod): ResourceList {
  const limits = podResources(pod, 'limits');
  const overhead = Object.entries(pod.spec.overhead ?? {}).filter(([name]) => isPositive(limits[name]));
  return addResources(limits, Object.fromEntries(overhead));
}
