import {isHugePageResource} from '../../../api/resource-list.js';
import {isExtendedResource} from '../../../api/validation/validate-resources.js';
import {quantityValue} from '../../../api/quantity.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import {nodeAllocatable} from '../../resources/node-allocatable.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import {hugePageSizeName} from '../../resources/huge-pages.js';
import {cpuMilli, memoryBytes, podRequests} from '../../resources/resource-amounts.js';

/** Maximum number of pods on a node (maxPods): the kubelet's default. */
const MAX_PODS = 110;

/** A resource that the node lacks, in milli-CPUs, bytes or pieces. */
export interface InsufficientResource {
  readonly resource: string;
  readonly requested: bigint;
  readonly used: bigint;
  readonly capacity: bigint;
}

/** Cache of requestsOf. Admission compares a pod with all others, and Pod objects never change. */
const requestsOfSeen = new WeakMap<Pod, ReadonlyMap<string, bigint>>();

/** Returns the pod's requests by resource, in milli-CPUs, bytes or pieces. */
function requestsOf(pod: Pod): ReadonlyMap<string, bigint> {
  const known = requestsOfSeen.get(pod);
  if (known !== undefined) return known;
  const list = podRequests(pod);
  const counted = Object.entries(list).filter(
    ([resource]) => isHugePageResource(resource) || isExtendedResource(resource),
  );
  const requests = new Map([
    ['pods', 1n],
    ['cpu', cpuMilli(list)],
    ['memory', memoryBytes(list)],
    ['ephemeral-storage', quantityValue(list['ephemeral-storage'] ?? '0')],
    ...counted.map(([resource, amount]) => [resource, quantityValue(amount)] as const),
  ]);
  requestsOfSeen.set(pod, requests);
  return requests;
}

/** Returns the pod's request of one resource (GetResourceRequest). */
export function getResourceRequest(pod: Pod, resource: string): bigint {
  return requestsOf(pod).get(resource) ?? 0n;
}

/** Returns the resources that the node lacks for the pod beside the others (noderesources Fits). */
export function findInsufficientResources(
  pod: Pod,
  others: readonly Pod[],
  node: NodeFacts,
): readonly InsufficientResource[] {
  // A resource that the node does not have is no concern of it (removeMissingExtendedResources).
  const extended = node.extendedResources?.();
  return [...requestsOf(pod)]
    .filter(
      ([resource, requested]) => requested > 0n && (!isExtendedResource(resource) || extended?.has(resource)),
    )
    .map(([resource, requested]) => ({
      resource,
      requested,
      used: others.reduce((sum, other) => sum + getResourceRequest(other, resource), 0n),
      capacity: extended?.get(resource) ?? capacityOf(resource, node),
    }))
    .filter(({requested, used, capacity}) => requested > capacity - used);
}

function capacityOf(resource: string, node: NodeFacts): bigint {
  const {cpuMilli: cpu, memoryBytes: memory, ephemeralStorageBytes: storage} = nodeAllocatable(node);
  switch (resource) {
    case 'pods':
      return BigInt(node.maxPods ?? MAX_PODS);
    case 'cpu':
      return cpu;
    case 'memory':
      return memory;
    case 'ephemeral-storage':
      return storage;
    default:
      // Huge pages of one size; 0 for a size unknown to the node.
      return node.hugePageBytes.get(hugePageSizeName(resource)) ?? 0n;
  }
}
