import {quantityMilliValue, quantityValue} from '../../api/quantity.js';
import type {Container, Pod} from '../../api/v1.js';
import type {Quantity, ResourceList} from '../../api/v1-meta.js';
import type {ResourceFieldSelector} from '../../api/v1-selectors.js';
import {nodeAllocatable, type NodeFacts} from '../container/node.js';
import {ContainerConfigError} from './config-errors.js';
import {isPositive} from './resource-amounts.js';

const RESOURCE = /^(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.+)$/;

/** What a resourceFieldRef is looked up in. */
export interface ResourceFieldRefContext {
  readonly pod: Pod;
  /** The container that is meant when the selector names none; a volume has none. */
  readonly container?: Container;
  readonly node: Pick<NodeFacts, 'cpuMilli' | 'memoryBytes' | 'ephemeralStorageBytes'>;
}

/**
 * A container's request or limit, divided and rounded up (resource.ExtractContainerResourceValue). A container
 * without a limit is told the Pod's, or else what pods may have of the node.
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
  // CPUs count in thousandths on both sides, so that 250m of a CPU is one CPU rounded up.
  const measure = name === 'cpu' ? quantityMilliValue : quantityValue;
  return String(divideUp(measure(amount ?? '0'), measure(isPositive(divisor) ? divisor : '1')));
}

/** The container's own limit; one of 0 counts as none. */
function limit(
  name: string,
  container: Container,
  {pod, node}: ResourceFieldRefContext,
): Quantity | undefined {
  const own = container.resources?.limits?.[name];
  return isPositive(own) ? own : {...allocatable(node), ...pod.spec.resources?.limits}[name];
}

/** Without huge pages, which are never overcommitted. */
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
  {container, pod: {spec}}: Pick<ResourceFieldRefContext, 'pod' | 'container'>,
): Container {
  if (name === '' && container !== undefined) return container;
  const all = [...spec.containers, ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])];
  const found = all.find((container) => container.name === name);
  if (found === undefined) throw new ContainerConfigError(`container ${name} not found`);
  return found;
}

function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}
