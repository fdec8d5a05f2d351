import {addResources, isHugePageResource} from '../../api/resource-list.js';
import {quantityValue} from '../../api/quantity.js';
import type {ContainerPort, Pod} from '../../api/v1.js';
import type {ResourceList} from '../../api/v1-meta.js';
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

/** The resources that the node has too little of for the pod beside the others (noderesources Fits). */
export function shortages(pod: Pod, others: readonly Pod[], node: NodeFacts): readonly Shortage[] {
  const asks = podRequests(pod);
  const taken = others.map(podRequests).reduce(addResources, {});
  const has = nodeAllocatable(node);
  const rows: readonly Shortage[] = [
    {
      resource: 'pods',
      requested: 1n,
      used: BigInt(others.length),
      capacity: BigInt(node.maxPods ?? MAX_PODS),
    },
    {resource: 'cpu', requested: cpuMilli(asks), used: cpuMilli(taken), capacity: has.cpuMilli},
    {resource: 'memory', requested: memoryBytes(asks), used: memoryBytes(taken), capacity: has.memoryBytes},
    {
      resource: 'ephemeral-storage',
      requested: storageBytes(asks),
      used: storageBytes(taken),
      capacity: has.ephemeralStorageBytes,
    },
    ...hugePageRows(asks, taken, node),
  ];
  return rows.filter(({requested, used, capacity}) => requested > 0n && requested > capacity - used);
}

/** In bytes, of each size that is asked for; one that the node doesn't know has none. */
function hugePageRows(asks: ResourceList, taken: ResourceList, node: NodeFacts): readonly Shortage[] {
  return Object.entries(asks)
    .filter(([resource]) => isHugePageResource(resource))
    .map(([resource, amount]) => ({
      resource,
      requested: quantityValue(amount),
      used: quantityValue(taken[resource] ?? '0'),
      capacity: node.hugePageBytes.get(hugePageSizeName(resource)) ?? 0n,
    }));
}

function storageBytes(list: ResourceList): bigint {
  return quantityValue(list['ephemeral-storage'] ?? '0');
}

/** Whether a port of the host that the pod wants is another pod's already (nodeports Fits). */
export function portsTaken(pod: Pod, others: readonly Pod[]): boolean {
  const taken = others.flatMap(hostPorts);
  return hostPorts(pod).some((port) => taken.some((other) => conflict(port, other)));
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
