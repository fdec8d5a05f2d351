import {compareQuantities, NANOS_PER_UNIT, parseQuantity} from '../../../api/quantity.js';
import {isHugePageResource} from '../../../api/resource-list.js';
import type {ResourceList} from '../../../api/types/v1-meta.js';
import type {Container, Pod} from '../../../api/types/v1-pod.js';
import {compare} from '../../../base/compare.js';
import {SystemError} from '../../../base/errors.js';
import {computePodQosClass} from '../../resources/qos-class.js';
import {hasPodLevelResources, isPositive} from '../../resources/resource-amounts.js';

/** Requested bytes by type of memory, sorted by type. */
export type MemoryRequests = ReadonlyMap<string, number>;

/** Reports whether a type of resource is memory that belongs to NUMA nodes. */
export function isMemoryType(name: string): boolean {
  return name === 'memory' || isHugePageResource(name);
}

/** Reports whether a pod gets memory of its own: a Guaranteed one, and one with resources of its own only if those are managed. */
export function getsOwnMemory(pod: Pod, managesPodLevel: boolean): boolean {
  return computePodQosClass(pod) === 'Guaranteed' && (managesPodLevel || !hasPodLevelResources(pod));
}

/**
 * Returns what a container requests. In a pod with resources of its own, only a container whose limits equal its requests
 * counts. Throws SystemError for parts of bytes (getContainerRequestedResources).
 */
export function containerRequests(pod: Pod, {resources}: Container): MemoryRequests {
  if (hasPodLevelResources(pod) && !hasFixedResources(resources?.requests, resources?.limits))
    return new Map();
  return memoryOf(resources?.requests);
}

function hasFixedResources(requests: ResourceList = {}, limits: ResourceList = {}): boolean {
  return ['cpu', 'memory'].every((name) => {
    const request = requests[name];
    return isPositive(request) && compareQuantities(request, limits[name] ?? '0') === 0;
  });
}

function memoryOf(list: ResourceList = {}): MemoryRequests {
  return new Map(
    Object.entries(list)
      .filter(([name]) => isMemoryType(name))
      .toSorted(([a], [b]) => compare(a, b))
      .map(([name, quantity]) => {
        const {nanos} = parseQuantity(quantity);
        if (nanos % NANOS_PER_UNIT !== 0n)
          throw new SystemError('[memorymanager] failed to represent quantity as int64');
        return [name, Number(nanos / NANOS_PER_UNIT)];
      }),
  );
}

/**
 * Returns what a whole pod requests: its own resources, or the larger of what its containers and sidecars need together, and
 * what the init containers need one after the other (getPodRequestedResources).
 */
export function requestsOfPod(pod: Pod): MemoryRequests {
  if (hasPodLevelResources(pod))
    return new Map([...memoryOf(pod.spec.resources?.requests)].filter(([, size]) => size > 0));
  const sidecars = new Map<string, number>();
  const init = new Map<string, number>();
  for (const container of pod.spec.initContainers ?? [])
    for (const [type, size] of containerRequests(pod, container)) {
      const together = amount(sidecars, type) + size;
      if (isSidecar(container)) sidecars.set(type, together);
      else init.set(type, Math.max(amount(init, type), together));
    }
  const own = sum(pod.spec.containers.map((container) => containerRequests(pod, container)));
  return new Map(
    [...own]
      .toSorted(([a], [b]) => compare(a, b))
      .map(([type, size]) => [type, Math.max(size + amount(sidecars, type), amount(init, type))]),
  );
}

function amount(requests: MemoryRequests, type: string): number {
  return requests.get(type) ?? 0;
}

function sum(all: readonly MemoryRequests[]): MemoryRequests {
  const total = new Map<string, number>();
  for (const requests of all)
    for (const [type, size] of requests) total.set(type, amount(total, type) + size);
  return total;
}

/** Reports whether a container is an init container that keeps running. */
export function isSidecar({restartPolicy}: Container): boolean {
  return restartPolicy === 'Always';
}

/**
 * Returns why memory of a whole pod cannot be divided: containers without memory of their own share what the others leave,
 * which must not be nothing (validatePodScopeResources).
 */
export function findEmptySharedPool(pod: Pod): string | undefined {
  const total = requestsOfPod(pod);
  const requestsOf = (container: Container): MemoryRequests => containerRequests(pod, container);
  const exhausted = (running: readonly Container[]): string | undefined => {
    const taken = sum(running.map(requestsOf));
    return [...total].find(([type, size]) => amount(taken, type) >= size)?.[0];
  };
  const isSharing = (container: Container): boolean => requestsOf(container).size === 0;
  const {initContainers: init = [], containers} = pod.spec;
  for (const [index, container] of init.entries()) {
    if (isSidecar(container) || !isSharing(container)) continue;
    const type = exhausted(init.slice(0, index).filter(isSidecar));
    if (type !== undefined)
      return `pod rejected, pod has shared init containers but no ${type} available for them`;
  }
  const running = [...init.filter(isSidecar), ...containers];
  const type = running.some(isSharing) ? exhausted(running) : undefined;
  return type === undefined
    ? undefined
    : `pod rejected, sum of exclusive container ${type} requests equals pod budget, leaving no memory for shared containers`;
}
