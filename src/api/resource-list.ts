import {addQuantities, compareQuantities} from './quantity.js';
import type {Container} from './v1.js';
import type {Quantity, ResourceList, ResourceRequirements} from './v1-meta.js';

/** True for `hugepages-2Mi` and the like (helper.IsHugePageResourceName). */
export function isHugePageResource(name: string): boolean {
  return name.startsWith('hugepages-');
}

/** True for a resource of Kubernetes itself, in contrast to a device's (helper.IsNativeResource). */
export function isNativeResource(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/');
}

/** True when a request may be less than its limit (helper.IsOvercommitAllowed). */
export function isOvercommitAllowed(name: string): boolean {
  return isNativeResource(name) && !isHugePageResource(name);
}

/** Resources that a pod as a whole can ask for, beside huge pages. */
export const POD_LEVEL_RESOURCES: readonly string[] = ['cpu', 'memory'];

/** True for a resource that `spec.resources` may name. */
export function isPodLevelResource(name: string): boolean {
  return POD_LEVEL_RESOURCES.includes(name) || isHugePageResource(name);
}

/** True for an init container that runs beside the others: restartPolicy Always (a sidecar). */
export function isRestartableInit(container: Container): boolean {
  return container.restartPolicy === 'Always';
}

/** The amount of a resource in a list; names come from manifests, so that only own properties count. */
export function amountOf(resources: ResourceList | undefined, name: string): Quantity | undefined {
  return resources !== undefined && Object.hasOwn(resources, name) ? resources[name] : undefined;
}

type Combine = (a: Quantity, b: Quantity) => Quantity;

function combine(a: ResourceList, b: ResourceList, how: Combine): ResourceList {
  const entries = Object.entries(b).map(([name, amount]) => {
    const present = amountOf(a, name);
    return [name, present === undefined ? amount : how(present, amount)] as const;
  });
  return {...a, ...Object.fromEntries(entries)};
}

/** Each resource's sum. */
export function addResources(a: ResourceList, b: ResourceList): ResourceList {
  return combine(a, b, addQuantities);
}

/** Each resource's larger amount. */
export function maxResources(a: ResourceList, b: ResourceList): ResourceList {
  return combine(a, b, (left, right) => (compareQuantities(right, left) > 0 ? right : left));
}

interface PodContainers {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
}

/**
 * What a pod's containers need together (resourcehelper.AggregateContainerRequests and -Limits): the sum of all that
 * run at the same time, or what an init container needs beside the sidecars before it, whichever is more.
 */
export function aggregateContainerResources(
  {containers, initContainers = []}: PodContainers,
  part: keyof Pick<ResourceRequirements, 'requests' | 'limits'>,
): ResourceList {
  const of = (container: Container): ResourceList => container.resources?.[part] ?? {};
  const running = containers.map(of).reduce(addResources, {});
  let sidecars: ResourceList = {};
  let starting: ResourceList = {};
  for (const container of initContainers) {
    const needed = addResources(sidecars, of(container));
    if (isRestartableInit(container)) sidecars = needed;
    starting = maxResources(starting, needed);
  }
  return maxResources(addResources(running, sidecars), starting);
}
