import type {Container, Pod, ResourceResizeRestartPolicy} from '../../api/v1.js';
import type {ResourceRequirements} from '../../api/v1-meta.js';
import {
  resizableContainers,
  sameResources,
  withAllocation,
  type PodAllocation,
} from '../container/pod-allocation.js';
import {
  findContainerStatus,
  type RuntimeContainerStatus,
  type RuntimePodStatus,
} from '../container/pod-status.js';
import type {ContainerUpdate, ResizeActions, ResizedAmounts} from '../container/resize-actions.js';
import {cpuMilli, limitOf, memoryBytes} from './resource-amounts.js';

type Resource = 'cpu' | 'memory';

const PARTS = {
  cpu: ['cpuLimit', 'cpuRequest'],
  memory: ['memoryLimit', 'memoryRequest'],
} as const satisfies Record<Resource, readonly (keyof ResizedAmounts)[]>;

/** What a container may have and asks for, its pod's limits where it has none (containerResourcesFromRequirements). */
export function resizedAmounts(
  pod: ResourceRequirements | undefined,
  {requests, limits}: ResourceRequirements = {},
): ResizedAmounts {
  return {
    cpuRequest: cpuMilli(requests),
    cpuLimit: cpuMilli({cpu: limitOf('cpu', limits, pod)}),
    memoryRequest: memoryBytes(requests),
    memoryLimit: memoryBytes({memory: limitOf('memory', limits, pod)}),
  };
}

/** What a container has and is to have; undefined when that is the same. */
function changeOf(
  pod: Pod,
  container: Container,
  actuated: PodAllocation,
): Pick<ContainerUpdate, 'desired' | 'current'> | undefined {
  const given = actuated.containers.get(container.name);
  if (given === undefined) return undefined;
  const desired = resizedAmounts(pod.spec.resources, container.resources);
  const current = resizedAmounts(actuated.pod, given);
  return [...PARTS.cpu, ...PARTS.memory].some((part) => desired[part] !== current[part])
    ? {desired, current}
    : undefined;
}

/** Whether a running container has to be started anew to get its resources (computePodResizeAction). */
export function resizeNeedsRestart(
  pod: Pod,
  container: Container,
  actuated: PodAllocation | undefined,
): boolean {
  const change = actuated && changeOf(pod, container, actuated);
  if (change === undefined) return false;
  return (['cpu', 'memory'] as const).some(
    (resource) => differs(change, resource) && policyOf(container, resource) === 'RestartContainer',
  );
}

function differs(
  {desired, current}: Pick<ContainerUpdate, 'desired' | 'current'>,
  resource: Resource,
): boolean {
  return PARTS[resource].some((part) => desired[part] !== current[part]);
}

function policyOf({resizePolicy = []}: Container, resource: Resource): ResourceResizeRestartPolicy {
  return resizePolicy.find(({resourceName}) => resourceName === resource)?.restartPolicy ?? 'NotRequired';
}

/** What a pod's sync does beside: the containers, by name, that it kills, and those that it starts. */
export interface ResizeSurroundings {
  readonly killed: readonly string[];
  readonly started: readonly string[];
}

/**
 * What is to be resized in place within a sandbox that stays (kuberuntime computePodResizeAction and
 * computePodLevelResourcesResizeAction); undefined when nothing is. A container that is started gets its resources
 * with that, and the pod's cgroup must have room for them before.
 */
export function computeResize(
  pod: Pod,
  status: RuntimePodStatus,
  actuated: PodAllocation | undefined,
  {killed, started}: ResizeSurroundings,
): ResizeActions | undefined {
  if (actuated === undefined) return undefined;
  const updates = resizableContainers(pod)
    .filter(({name}) => !killed.includes(name))
    .flatMap((container) => updateOf(pod, container, findContainerStatus(status, container.name), actuated));
  const startsResized = resizableContainers(pod).some(
    (container) => started.includes(container.name) && changeOf(pod, container, actuated) !== undefined,
  );
  const wholePod = startsResized || !sameResources(pod.spec.resources, actuated.pod);
  const [memory, cpu] = [inOrder(updates, 'memory'), inOrder(updates, 'cpu')];
  return memory.length + cpu.length > 0 || wholePod ? {memory, cpu, wholePod} : undefined;
}

function updateOf(
  pod: Pod,
  container: Container,
  status: RuntimeContainerStatus | undefined,
  actuated: PodAllocation,
): readonly ContainerUpdate[] {
  if (status?.state !== 'CONTAINER_RUNNING') return [];
  const change = changeOf(pod, container, actuated);
  return change === undefined ? [] : [{container, id: status.id, ...change}];
}

/** The updates of one resource: the last that takes something away first, then those that give. */
function inOrder(updates: readonly ContainerUpdate[], resource: Resource): readonly ContainerUpdate[] {
  const isLess = ({desired, current}: ContainerUpdate): boolean => {
    const part = PARTS[resource].find((each) => desired[each] !== current[each]);
    return part !== undefined && desired[part] < current[part];
  };
  const concerned = updates.filter((update) => differs(update, resource));
  return [...concerned.filter(isLess).toReversed(), ...concerned.filter((update) => !isLess(update))];
}

/** Whether something that runs hasn't got what the Pod says yet (IsPodResizeInProgress). */
export function isResizeInProgress(
  pod: Pod,
  status: RuntimePodStatus,
  actuated: PodAllocation | undefined,
): boolean {
  if (actuated === undefined) return false;
  if (!sameResources(pod.spec.resources, actuated.pod)) return true;
  return resizableContainers(pod).some(
    (container) => updateOf(pod, container, findContainerStatus(status, container.name), actuated).length > 0,
  );
}

/** The Pod as it would say what was last actuated. */
export function actuatedPod(pod: Pod, actuated: PodAllocation | undefined): Pod {
  return actuated === undefined ? pod : withAllocation(pod, actuated);
}
