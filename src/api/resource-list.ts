import {isRestartableInitContainer} from './pod-containers.js';
import {addQuantities, compareQuantities} from './quantity.js';
import type {Container} from './types/v1-pod.js';
import type {Quantity, ResourceList, ResourceRequirements} from './types/v1-meta.js';

/** Reports whether this is a huge page resource such as `hugepages-2Mi` (helper.IsHugePageResourceName). */
export function isHugePageResource(name: string): boolean {
  return name.startsWith('hugepages-');
}

/** Reports whether this is a native resource rather than an extended resource (helper.IsNativeResource). */
export function isNativeResource(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/');
}

/** Reports whether a request may be less than its limit (helper.IsOvercommitAllowed). */
export function isOvercommitAllowed(name: string): boolean {
  return isNativeResource(name) && !isHugePageResource(name);
}

/** Pod-level resources other than huge pages. */
export const POD_LEVEL_RESOURCES: readonly string[] = ['cpu', 'memory'];

/** Reports whether `spec.resources` may contain the resource. */
export function isPodLevelResource(name: string): boolean {
  return POD_LEVEL_RESOURCES.includes(name) || isHugePageResource(name);
}

/** Returns the quantity of a resource in a list; names come from manifests, so only own properties count. */
export function quantityOf(resources: ResourceList | undefined, name: string): Quantity | undefined {
  return resources !== undefined && Object.hasOwn(resources, name) ? resources[name] : undefined;
}

type Combine = (a: Quantity, b: Quantity) => Quantity;

function combine(a: ResourceList, b: ResourceList, how: Combine): ResourceList {
  const entries = Object.entries(b).map(([name, amount]) => {
    const present = quantityOf(a, name);
    return [name, present === undefined ? amount : how(present, amount)] as const;
  });
  return {...a, ...Object.fromEntries(entries)};
}

/** Arithmetic of quantities. */
export interface QuantityArithmetic {
  readonly add: Combine;
  /** Compares two quantities: negative, zero or positive. */
  readonly compare: (a: Quantity, b: Quantity) => number;
}

const CANONICAL: QuantityArithmetic = {add: addQuantities, compare: compareQuantities};

/** Returns the sum per resource. */
export function addResources(a: ResourceList, b: ResourceList): ResourceList {
  return combine(a, b, addQuantities);
}

interface PodContainers {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
}

/**
 * Returns the aggregate requests or limits of a pod's containers: the sum of those that run at the same time, or the
 * need of an init container with the sidecars before it, whichever is larger
 * (resourcehelper.AggregateContainerRequests, -Limits).
 */
export function aggregateContainerResources(
  {containers, initContainers = []}: PodContainers,
  part: keyof Pick<ResourceRequirements, 'requests' | 'limits'>,
  {add, compare}: QuantityArithmetic = CANONICAL,
): ResourceList {
  const of = (container: Container): ResourceList => container.resources?.[part] ?? {};
  const sum = (a: ResourceList, b: ResourceList): ResourceList => combine(a, b, add);
  const max = (a: ResourceList, b: ResourceList): ResourceList =>
    combine(a, b, (left, right) => (compare(right, left) > 0 ? right : left));
  let running = containers.map(of).reduce(sum, {});
  let sidecars: ResourceList = {};
  let starting: ResourceList = {};
  for (const container of initContainers) {
    const own = of(container);
    if (isRestartableInitContainer(container)) {
      running = sum(running, own);
      sidecars = sum(sidecars, own);
      starting = max(starting, sidecars);
    } else starting = max(starting, sum(own, sidecars));
  }
  return max(running, starting);
}
