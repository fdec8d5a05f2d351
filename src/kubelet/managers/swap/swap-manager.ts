import type {ContainerRequest, ContainerResources, NodeManager} from '../../contract/node-manager.js';
import {effectiveLimit, memoryBytes} from '../../resources/resource-amounts.js';

/** Creates the manager that forbids swap to all containers (swapBehavior NoSwap), where the kernel accounts it. */
export function createSwapManager(): NodeManager {
  return {name: 'swap', resources: withoutSwap};
}

/** Returns the limits without swap (swapConfigurationHelper ConfigureNoSwap). */
function withoutSwap({pod, container, node}: ContainerRequest): ContainerResources {
  const {version, swapAccounting} = node.cgroup;
  if (!swapAccounting) return {};
  if (version === 2) return {unified: {'memory.swap.max': '0'}};
  // With cgroup v1 the limit is that of memory and swap together.
  const memory = effectiveLimit('memory', container.resources?.limits, pod.spec.resources);
  return {memorySwapLimitInBytes: memoryBytes({memory})};
}
