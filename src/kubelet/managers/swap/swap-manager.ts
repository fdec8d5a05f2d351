import type {Container, Pod} from '../../../api/types/v1-pod.js';
import type {ContainerRequest, ContainerResources, NodeManager} from '../../contract/node-manager.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import {DEFAULT_CONTAINER_POLICY, type ContainerPolicy} from '../../contract/resources/container-policy.js';
import {computePodQosClass} from '../../resources/qos-class.js';
import {effectiveLimit, memoryBytes} from '../../resources/resource-amounts.js';
import {isCriticalPod} from '../../sources/critical-pod.js';

/** Creates the manager of the swap that containers may use, where the kernel accounts it. */
export function createSwapManager(): NodeManager {
  return {
    name: 'swap',
    resources: (request) => (request.node.cgroup.swapAccounting ? swapResources(request) : {}),
  };
}

/** Returns the limits of a container's swap (configureContainerSwapResources). */
function swapResources({pod, container, node}: ContainerRequest): ContainerResources {
  if (node.cgroup.version === 2) {
    const isLimited = containerSwapBehavior(pod, container, node) === 'LimitedSwap';
    return {unified: {'memory.swap.max': String(isLimited ? swapShare(container, node) : 0n)}};
  }
  // With cgroup v1 the limit is that of memory and swap together.
  const memory = effectiveLimit('memory', container.resources?.limits, pod.spec.resources);
  return {memorySwapLimitInBytes: memoryBytes({memory})};
}

/**
 * Returns the swap behavior of a container: only those with a memory request below their limit, in Burstable pods that are
 * not critical, use swap (GetContainerSwapBehavior).
 */
export function containerSwapBehavior(
  pod: Pod,
  {resources}: Container,
  {cgroup, containerPolicy}: Pick<NodeFacts, 'cgroup' | 'containerPolicy'>,
): ContainerPolicy['swapBehavior'] {
  const {swapBehavior} = containerPolicy ?? DEFAULT_CONTAINER_POLICY;
  const [request, limit] = [memoryBytes(resources?.requests), memoryBytes(resources?.limits)];
  const mayUse =
    cgroup.version === 2 &&
    cgroup.swapAccounting &&
    !isCriticalPod(pod) &&
    computePodQosClass(pod) === 'Burstable' &&
    request !== limit;
  return mayUse ? swapBehavior : 'NoSwap';
}

/** Returns the part of the node's swap that is the container's part of its memory (calcSwapForBurstablePods). */
function swapShare(
  {resources}: Container,
  {memoryBytes: memory, swapBytes = 0n}: Pick<NodeFacts, 'memoryBytes' | 'swapBytes'>,
): bigint {
  const request = memoryBytes(resources?.requests);
  if (memory <= 0n || request > memory) return 0n;
  // As the kubelet, in floating point.
  return BigInt(Math.trunc((Number(request) / Number(memory)) * Number(swapBytes)));
}
