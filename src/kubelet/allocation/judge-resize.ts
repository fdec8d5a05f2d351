import {amountOf} from '../../api/resource-list.js';
import type {Pod} from '../../api/v1.js';
import type {ResourceList, ResourceRequirements} from '../../api/v1-meta.js';
import {compareQuantities} from '../../api/quantity.js';
import {shortages} from '../admission/node-room.js';
import {nodeAllocatable, type NodeFacts} from '../container/node.js';
import {
  isAllocated,
  resizableContainers,
  withAllocation,
  type PodAllocation,
} from '../container/pod-allocation.js';
import {podQosClass} from '../kuberuntime/qos.js';
import {cpuMilli, memoryBytes, podRequests} from '../kuberuntime/resource-amounts.js';

/** Why a pod doesn't get the resources that it asks for: they may come free, or never (PodResizePending). */
export interface PendingResize {
  readonly reason: 'Deferred' | 'Infeasible';
  readonly message: string;
  /** The Pod as it is wanted. */
  readonly pod: Pod;
}

/** What a resize is judged by. */
export interface ResizeQuestion {
  /** The Pod as it is wanted. */
  readonly pod: Pod;
  /** What it was granted before. */
  readonly allocation: PodAllocation;
  /** The other pods on the node that have not ended, with what they were granted. */
  readonly others: readonly Pod[];
  readonly node: NodeFacts;
  /** Whether it matters that the node has room. */
  readonly admission: boolean;
}

/** Whether the pod asks for other resources than it was granted, and why it can't have them, if so. */
export type ResizeVerdict =
  | {readonly kind: 'none'}
  | {readonly kind: 'fits'}
  | {readonly kind: 'pending'; readonly pending: PendingResize};

/**
 * Whether a pod gets other resources while it runs: what an API server refuses first (ValidatePodResize), then what
 * the node has (allocation_manager handlePodResourcesResize).
 */
export function judgeResize(question: ResizeQuestion): ResizeVerdict {
  const {pod, allocation, admission} = question;
  if (isAllocated(pod, allocation)) return {kind: 'none'};
  const invalid = invalidResize(pod, withAllocation(pod, allocation));
  if (invalid !== undefined) return infeasible(pod, invalid);
  if (!admission) return {kind: 'fits'};
  return beyondNode(question) ?? lacksRoom(question) ?? {kind: 'fits'};
}

function infeasible(pod: Pod, message: string): ResizeVerdict {
  return {kind: 'pending', pending: {reason: 'Infeasible', message, pod}};
}

/** More than the node has for all pods. */
function beyondNode({pod, node}: ResizeQuestion): ResizeVerdict | undefined {
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

/** More than the others leave. */
function lacksRoom({pod, others, node}: ResizeQuestion): ResizeVerdict | undefined {
  const [short] = shortages(pod, others, node);
  if (short === undefined) return undefined;
  const {resource, requested, used, capacity} = short;
  const message = `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`;
  return {kind: 'pending', pending: {reason: 'Deferred', message, pod}};
}

/** Why it can't be a resize at all. */
function invalidResize(desired: Pod, granted: Pod): string | undefined {
  if (podQosClass(desired) !== podQosClass(granted))
    return 'Pod QOS Class may not change as a result of resizing';
  const before = new Map(resizableContainers(granted).map((container) => [container.name, container]));
  const pairs = [
    [desired.spec.resources, granted.spec.resources] as const,
    ...resizableContainers(desired).map(
      ({name, resources}) => [resources, before.get(name)?.resources] as const,
    ),
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
    if (RESIZABLE.some((name) => amountOf(old, name) !== undefined && amountOf(list, name) === undefined))
      return `resource ${kind} cannot be removed`;
    if (!sameOthers(list, old)) return 'only cpu and memory resources are mutable';
  }
  return undefined;
}

function sameOthers(a: ResourceList = {}, b: ResourceList = {}): boolean {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  for (const name of RESIZABLE) names.delete(name);
  return [...names].every((name) => {
    const [one, other] = [amountOf(a, name), amountOf(b, name)];
    return one !== undefined && other !== undefined && compareQuantities(one, other) === 0;
  });
}
