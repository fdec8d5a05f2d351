import {containersOf, longRunningContainersOf} from '../../../api/pod-containers.js';
import {quantityOf} from '../../../api/resource-list.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import type {ResourceList, ResourceRequirements} from '../../../api/types/v1-meta.js';
import {compareQuantities} from '../../../api/quantity.js';
import {findInsufficientResources} from '../node-fit/node-capacity.js';
import type {PendingResize} from '../../contract/pod-rejection.js';
import {nodeAllocatable} from '../../resources/node-allocatable.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import {isAllocated, withAllocation} from '../../resources/pod-allocation.js';
import type {PodAllocation} from '../../contract/resources/actuated-resources.js';
import {computePodQosClass} from '../../resources/qos-class.js';
import {cpuMilli, memoryBytes, podRequests} from '../../resources/resource-amounts.js';

/** A resize to admit, and the node's other pods. */
export interface ResizeRequest {
  /** Desired pod. */
  readonly pod: Pod;
  /** Current allocation of the pod. */
  readonly allocation: PodAllocation;
  /** Other pods on the node that have not terminated, with their allocated resources. */
  readonly others: readonly Pod[];
  readonly node: NodeFacts;
  /** True if the resize must fit the node. */
  readonly admission: boolean;
}

/** Decision about a resize: not requested, granted, or pending with its reason. */
export type ResizeDecision =
  | {readonly kind: 'none'}
  | {readonly kind: 'fits'}
  | {readonly kind: 'pending'; readonly pending: PendingResize};

/**
 * Decides whether a running pod gets other resources: first by the API server's validation (ValidatePodResize), then by
 * the capacity of the node (allocation_manager handlePodResourcesResize).
 */
export function canResizePod(question: ResizeRequest): ResizeDecision {
  const {pod, allocation, admission} = question;
  if (isAllocated(pod, allocation)) return {kind: 'none'};
  const invalid = invalidResize(pod, withAllocation(pod, allocation));
  if (invalid !== undefined) return infeasible(pod, invalid);
  const fixed = findFixedResource(question);
  if (fixed !== undefined) return infeasible(pod, fixed);
  if (!admission) return {kind: 'fits'};
  return beyondNode(question) ?? lacksRoom(question) ?? {kind: 'fits'};
}

function infeasible(pod: Pod, message: string): ResizeDecision {
  return {kind: 'pending', pending: {reason: 'Infeasible', message, pod}};
}

/** Reports why a pod keeps what managers of the node gave it (podResizesAdmitHandler). */
function findFixedResource({pod, allocation, node}: ResizeRequest): string | undefined {
  if (computePodQosClass(pod) !== 'Guaranteed') return undefined;
  const before = longRunningContainersOf(withAllocation(pod, allocation));
  const isChanged = (name: 'cpu' | 'memory'): boolean =>
    longRunningContainersOf(pod).some(({resources}, index) => {
      const old = before[index]?.resources;
      return compareQuantities(resources?.requests?.[name] ?? '0', old?.requests?.[name] ?? '0') !== 0;
    });
  const text = (manager: string, policy: string): string =>
    `Resize is infeasible for Guaranteed Pods alongside ${manager} Manager policy "${policy}"`;
  if (node.cpuManager?.policy === 'static' && isChanged('cpu')) return text('CPU', 'static');
  if (node.memoryManager?.policy === 'Static' && isChanged('memory')) return text('Memory', 'Static');
  return undefined;
}

/** Returns Infeasible if the pod requests more than the allocatable resources of the node. */
function beyondNode({pod, node}: ResizeRequest): ResizeDecision | undefined {
  const {cpuMilli: cpus, memoryBytes: memory} = nodeAllocatable(node);
  const asked = podRequests(pod);
  const rows = [
    {resource: 'memory', requested: memoryBytes(asked), capacity: memory},
    {resource: 'cpu', requested: cpuMilli(asked), capacity: cpus},
  ];
  const row = rows.find(({requested, capacity}) => requested > capacity);
  return (
    row &&
    infeasible(
      pod,
      `Node didn't have enough capacity: ${row.resource}, requested: ${row.requested}, capacity: ${row.capacity}`,
    )
  );
}

/** Returns Deferred if the pod requests more than the other pods leave free. */
function lacksRoom({pod, others, node}: ResizeRequest): ResizeDecision | undefined {
  const [short] = findInsufficientResources(pod, others, node);
  if (short === undefined) return undefined;
  const {resource, requested, used, capacity} = short;
  const message = `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`;
  return {kind: 'pending', pending: {reason: 'Deferred', cause: `OutOf${resource}`, message, pod}};
}

/** Returns the message of the API server if the change is not a valid resize. */
function invalidResize(desired: Pod, granted: Pod): string | undefined {
  if (computePodQosClass(desired) !== computePodQosClass(granted))
    return 'Pod QOS Class may not change as a result of resizing';
  const before = new Map(containersOf(granted).map((container) => [container.name, container]));
  const pairs = [
    [desired.spec.resources, granted.spec.resources] as const,
    ...containersOf(desired).map(({name, resources}) => [resources, before.get(name)?.resources] as const),
  ];
  const problems = pairs.map(([now, then]) => invalidChange(now, then));
  return problems.find((problem) => problem !== undefined);
}

const RESIZABLE = ['cpu', 'memory'] as const;

function invalidChange(
  now: ResourceRequirements = {},
  before: ResourceRequirements = {},
): string | undefined {
  for (const kind of ['limits', 'requests'] as const) {
    const [list, old] = [now[kind], before[kind]];
    if (RESIZABLE.some((name) => quantityOf(old, name) !== undefined && quantityOf(list, name) === undefined))
      return `resource ${kind} cannot be removed`;
    if (!sameOthers(list, old)) return 'only cpu and memory resources are mutable';
  }
  return undefined;
}

function sameOthers(a: ResourceList = {}, b: ResourceList = {}): boolean {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  for (const name of RESIZABLE) names.delete(name);
  return [...names].every((name) => {
    const [one, other] = [quantityOf(a, name), quantityOf(b, name)];
    return one !== undefined && other !== undefined && compareQuantities(one, other) === 0;
  });
}
