import {compareQuantities, quantityMilliValue, quantityValue} from '../../api/quantity.js';
import {aggregateContainerResources} from '../../api/resource-list.js';
import type {Pod} from '../../api/v1.js';
import type {Quantity, ResourceList, ResourceRequirements} from '../../api/v1-meta.js';

/** The two halves of resources. */
export type ResourceKind = keyof Pick<ResourceRequirements, 'requests' | 'limits'>;

/** More than nothing. */
export function isPositive(quantity: Quantity | undefined): quantity is Quantity {
  return quantity !== undefined && compareQuantities(quantity, '0') > 0;
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
