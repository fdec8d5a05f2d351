import {allContainersOf} from '../../../../../api/pod-containers.js';
import {quantityMilliValue, quantityValue} from '../../../../../api/quantity.js';
import type {Container, Pod} from '../../../../../api/types/v1-pod.js';
import type {Quantity, ResourceList} from '../../../../../api/types/v1-meta.js';
import type {ResourceFieldSelector} from '../../../../../api/types/v1-selectors.js';
import {nodeAllocatable, type AllocatableFacts} from '../../../../resources/node-allocatable.js';
import {ContainerConfigError} from '../config-errors.js';
import {isPositive} from '../../../../resources/resource-amounts.js';

const RESOURCE = /^(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.+)$/;

/** Objects that a resourceFieldRef is resolved against. */
export interface ResourceFieldRefContext {
  readonly pod: Pod;
  /** Default container of the selector; a volume has none. */
  readonly container?: Container;
  readonly node: AllocatableFacts;
}

/**
 * Returns a container's request or limit, divided and rounded up (resource.ExtractContainerResourceValue). Without a
 * limit of its own a container gets the pod's, or the node's allocatable amount.
 *
 * @throws ContainerConfigError for an unknown container or resource.
 */
export function resourceFieldRefValue(
  {resource, containerName = '', divisor = '0'}: ResourceFieldSelector,
  context: ResourceFieldRefContext,
): string {
  const container = selectedContainer(containerName, context);
  const [, kind, name] = RESOURCE.exec(resource) ?? [];
  if (name === undefined) throw new ContainerConfigError(`unsupported container resource : ${resource}`);
  const amount = kind === 'limits' ? limit(name, container, context) : container.resources?.requests?.[name];
  // Both CPU amounts are in milli-CPUs, so that 250m rounds up to 1.
  const measure = name === 'cpu' ? quantityMilliValue : quantityValue;
  return String(divideUp(measure(amount ?? '0'), measure(isPositive(divisor) ? divisor : '1')));
}

/** Returns the container's own limit, unless it is 0, or the limit of the pod or node. */
function limit(
  name: string,
  container: Container,
  {pod, node}: ResourceFieldRefContext,
): Quantity | undefined {
  const own = container.resources?.limits?.[name];
  return isPositive(own) ? own : {...allocatable(node), ...pod.spec.resources?.limits}[name];
}

/** Returns the node's allocatable resources without huge pages, which cannot be overcommitted. */
function allocatable(node: ResourceFieldRefContext['node']): ResourceList {
  const {cpuMilli, memoryBytes, ephemeralStorageBytes} = nodeAllocatable(node);
  return {
    cpu: `${cpuMilli}m`,
    memory: `${memoryBytes}`,
    'ephemeral-storage': `${ephemeralStorageBytes}`,
  };
}

function selectedContainer(
  name: string,
  {container, pod}: Pick<ResourceFieldRefContext, 'pod' | 'container'>,
): Container {
  if (name === '' && container !== undefined) return container;
  const found = allContainersOf(pod).find((container) => container.name === name);
  if (found === undefined) throw new ContainerConfigError(`container ${name} not found`);
  return found;
}

function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}
