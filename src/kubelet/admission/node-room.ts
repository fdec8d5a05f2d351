import {isHugePageResource} from '../../api/resource-list.js';
import {quantityValue} from '../../api/quantity.js';
import type {ContainerPort, Pod} from '../../api/v1.js';
import {nodeAllocatable, type NodeFacts} from '../container/node.js';
import {hugePageSizeName} from '../kuberuntime/linux-resources.js';
import {cpuMilli, memoryBytes, podRequests} from '../kuberuntime/resource-amounts.js';

/** How many pods a node takes (the kubelet's maxPods). */
const MAX_PODS = 110;

/** A resource of which there isn't enough. Milli-CPUs, bytes or pieces. */
export interface Shortage {
  readonly resource: string;
  readonly requested: bigint;
  readonly used: bigint;
  readonly capacity: bigint;
}

/** Of pods seen before: a pod that comes is held against all others, and none of these changes. */
const requestsOfSeen = new WeakMap<Pod, ReadonlyMap<string, bigint>>();

/** What a pod takes of the node, by resource: milli-CPUs, bytes or pieces. */
function requestsOf(pod: Pod): ReadonlyMap<string, bigint> {
  const known = requestsOfSeen.get(pod);
  if (known !== undefined) return known;
  const list = podRequests(pod);
  const hugePages = Object.entries(list).filter(([resource]) => isHugePageResource(resource));
  const requests = new Map([
    ['pods', 1n],
    ['cpu', cpuMilli(list)],
    ['memory', memoryBytes(list)],
    ['ephemeral-storage', quantityValue(list['ephemeral-storage'] ?? '0')],
    ...hugePages.map(([resource, amount]) => [resource, quantityValue(amount)] as const),
  ]);
  requestsOfSeen.set(pod, requests);
  return requests;
}

/** What a pod takes of one resource of the node (GetResourceRequest). */
export function requestOf(pod: Pod, resource: string): bigint {
  return requestsOf(pod).get(resource) ?? 0n;
}

/** The resources that the node has too little of for the pod beside the others (noderesources Fits). */
export function shortages(pod: Pod, others: readonly Pod[], node: NodeFacts): readonly Shortage[] {
  return [...requestsOf(pod)]
    .filter(([, requested]) => requested > 0n)
    .map(([resource, requested]) => ({
      resource,
      requested,
      used: others.reduce((sum, other) => sum + requestOf(other, resource), 0n),
      capacity: capacityOf(resource, node),
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
      // A size of huge pages; of one that the node doesn't know it has none.
      return node.hugePageBytes.get(hugePageSizeName(resource)) ?? 0n;
  }
}

/** Whether a port of the host that the pod wants is another pod's already (nodeports Fits). */
export function portsTaken(pod: Pod, others: readonly Pod[]): boolean {
  const wanted = hostPorts(pod);
  if (wanted.length === 0) return false;
  const taken = others.flatMap(hostPorts);
  return wanted.some((port) => taken.some((other) => conflict(port, other)));
}

/** Those of sidecars too, which run beside the containers. */
function hostPorts({spec}: Pod): readonly ContainerPort[] {
  const sidecars = spec.initContainers?.filter(({restartPolicy}) => restartPolicy === 'Always') ?? [];
  return [...spec.containers, ...sidecars]
    .flatMap(({ports = []}) => ports)
    .filter(({hostPort = 0}) => hostPort > 0);
}

const ANY_IP = '0.0.0.0';

/** Where a port listens; an address that is written out as empty means any, just as none does. */
function address({hostIP = ''}: ContainerPort): string {
  return hostIP === '' ? ANY_IP : hostIP;
}

function conflict(a: ContainerPort, b: ContainerPort): boolean {
  const [first, second] = [address(a), address(b)];
  const sameAddress = first === second || first === ANY_IP || second === ANY_IP;
  return sameAddress && a.hostPort === b.hostPort && (a.protocol ?? 'TCP') === (b.protocol ?? 'TCP');
}
