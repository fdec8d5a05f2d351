import type {Pod} from '../../../api/types/v1-pod.js';
import type {ContainerRequest, NodeManager} from '../../contract/node-manager.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import type {CgroupLimits} from '../../contract/resources/cgroup-limits.js';
import type {MemoryQosPolicy} from '../../contract/resources/container-policy.js';
import {nodeAllocatable} from '../../resources/node-allocatable.js';
import {computePodQosClass} from '../../resources/qos-class.js';
import {memoryBytes, podRequests} from '../../resources/resource-amounts.js';

/** The kernel rounds to its pages, whatever their size (kuberuntime defaultPageSize). */
const PAGE_BYTES = 4096;

/** Creates the manager that protects and throttles the memory of containers; undefined without the feature gate or cgroup v2. */
export function createMemoryQosManager({
  cgroup,
  containerPolicy,
}: Pick<NodeFacts, 'cgroup' | 'containerPolicy'>): NodeManager | undefined {
  const policy = containerPolicy?.memoryQos;
  if (policy === undefined || cgroup.version !== 2) return undefined;
  return {
    name: 'memory QoS',
    resources: (request) => ({
      unified: {...protectionOfContainer(request, policy), ...throttling(request, policy)},
    }),
    podLimits: (pod, limits) => ({...limits, ...protectionOfPod(pod, policy)}),
  };
}

type MemoryFiles = Readonly<Record<string, string>>;

/** Returns the memory that the kernel does not reclaim from a container (generateLinuxContainerResources). */
function protectionOfContainer(
  {pod, container}: ContainerRequest,
  {protectsRequests}: MemoryQosPolicy,
): MemoryFiles {
  const request = memoryBytes(container.resources?.requests);
  if (request === 0n || !protectsRequests) return {'memory.min': '0', 'memory.low': '0'};
  return {[protectingFile(pod)]: String(request)};
}

/** Returns the amount of memory from which a container is throttled; nothing if its request is its limit. */
function throttling({container, node}: ContainerRequest, {throttlingFactor}: MemoryQosPolicy): MemoryFiles {
  const request = memoryBytes(container.resources?.requests);
  const limit = memoryBytes(container.resources?.limits);
  if (request === limit) return {};
  const most = limit === 0n ? nodeAllocatable(node).memoryBytes : limit;
  // As the kubelet, in floating point.
  const high = Number(request) + (Number(most) - Number(request)) * throttlingFactor;
  const bytes = BigInt(Math.trunc(Math.floor(high) / PAGE_BYTES)) * BigInt(PAGE_BYTES);
  return bytes !== 0n && bytes > request && most > 0n ? {'memory.high': String(bytes)} : {};
}

/** Returns the memory that the kernel does not reclaim from a pod (ResourceConfigForPod). */
function protectionOfPod(pod: Pod, {protectsRequests}: MemoryQosPolicy): Pick<CgroupLimits, 'memoryFiles'> {
  const request = memoryBytes(podRequests(pod));
  return protectsRequests && request > 0n ? {memoryFiles: {[protectingFile(pod)]: String(request)}} : {};
}

/** Guaranteed pods are never reclaimed from, Burstable ones only if nothing else is left. */
function protectingFile(pod: Pod): string {
  return computePodQosClass(pod) === 'Guaranteed' ? 'memory.min' : 'memory.low';
}
