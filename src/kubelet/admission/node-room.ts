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

/** What a pod asks for, in milli-CPUs and bytes. */
interface Requests {
  readonly cpu: bigint;
  readonly memory: bigint;
  readonly storage: bigint;
  readonly hugePages: ReadonlyMap<string, bigint>;
}

/** Of pods seen before: a pod that comes is held against all others, and none of these changes. */
const requestsOfSeen = new WeakMap<Pod, Requests>();

function requestsOf(pod: Pod): Requests {
  const known = requestsOfSeen.get(pod);
  if (known !== undefined) return known;
  const list = podRequests(pod);
  const hugePages = Object.entries(list).filter(([resource]) => isHugePageResource(resource));
  const requests = {
    cpu: cpuMilli(list),
    memory: memoryBytes(list),
    storage: quantityValue(list['ephemeral-storage'] ?? '0'),
    hugePages: new Map(hugePages.map(([resource, amount]) => [resource, quantityValue(amount)])),
  };
  requestsOfSeen.set(pod, requests);
  return requests;
}

/** The resources that the node has too little of for the pod beside the others (noderesources Fits). */
export function shortages(pod: Pod, others: readonly Pod[], node: NodeFacts): readonly Shortage[] {
  const asks = requestsOf(pod);
  const taken = others.map(requestsOf);
  const used = (of: (requests: Requests) => bigint): bigint =>
    taken.reduce((sum, requests) => sum + of(requests), 0n);
  const has = nodeAllocatable(node);
  const rows: readonly Shortage[] = [
    {
      resource: 'pods',
      requested: 1n,
      used: BigInt(others.length),
      capacity: BigInt(node.maxPods ?? MAX_PODS),
    },
    {resource: 'cpu', requested: asks.cpu, used: used(({cpu}) => cpu), capacity: has.cpuMilli},
    {resource: 'memory', requested: asks.memory, used: used(({memory}) => memory), capacity: has.memoryBytes},
    {
      resource: 'ephemeral-storage',
      requested: asks.storage,
      used: used(({storage}) => storage),
      capacity: has.ephemeralStorageBytes,
    },
    // Of each size that is asked for; one that the node doesn't know has none.
    ...[...asks.hugePages].map(([resource, requested]) => ({
      resource,
      requested,
      used: used(({hugePages}) => hugePages.get(resource) ?? 0n),
      capacity: node.hugePageBytes.get(hugePageSizeName(resource)) ?? 0n,
    })),
  ];
  return rows.filter(({requested, used: inUse, capacity}) => requested > 0n && requested > capacity - inUse);
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
