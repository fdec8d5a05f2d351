import {containersOf} from '../../../../api/pod-containers.js';
import type {Container, Pod, ResourceResizeRestartPolicy} from '../../../../api/types/v1-pod.js';
import type {ResourceRequirements} from '../../../../api/types/v1-meta.js';
import {areResourcesEqual, withAllocation} from '../../../resources/pod-allocation.js';
import type {PodAllocation} from '../../../contract/resources/actuated-resources.js';
import {
  findContainerStatus,
  type RuntimeContainerStatus,
  type RuntimePodStatus,
} from '../../../contract/runtime-pod-status.js';
import type {
  ContainerUpdate,
  ResizeActions,
  ResizedAmounts,
} from '../../../contract/resources/resize-actions.js';
import {cpuMilli, effectiveLimit, memoryBytes} from '../../../resources/resource-amounts.js';

type Resource = 'cpu' | 'memory';

const PARTS = {
  cpu: ['cpuLimit', 'cpuRequest'],
  memory: ['memoryLimit', 'memoryRequest'],
} as const satisfies Record<Resource, readonly (keyof ResizedAmounts)[]>;

/**
 * Returns the requests and limits of a container, with the pod's limits where it has none
 * (containerResourcesFromRequirements).
 */
export function computeResizedAmounts(
  pod: ResourceRequirements | undefined,
  {requests, limits}: ResourceRequirements = {},
): ResizedAmounts {
  return {
    cpuRequest: cpuMilli(requests),
    cpuLimit: cpuMilli({cpu: effectiveLimit('cpu', limits, pod)}),
    memoryRequest: memoryBytes(requests),
    memoryLimit: memoryBytes({memory: effectiveLimit('memory', limits, pod)}),
  };
}

/** Returns the current and desired resources of a container; undefined if they are equal. */
function findResourceChange(
  pod: Pod,
  container: Container,
  actuated: PodAllocation,
): Pick<ContainerUpdate, 'desired' | 'current'> | undefined {
  const given = actuated.containers.get(container.name);
  if (given === undefined) return undefined;
  const desired = computeResizedAmounts(pod.spec.resources, container.resources);
  const current = computeResizedAmounts(actuated.pod, given);
  return [...PARTS.cpu, ...PARTS.memory].some((part) => desired[part] !== current[part])
    ? {desired, current}
    : undefined;
}

/** Reports whether a running container must be restarted to get its new resources (computePodResizeAction). */
export function shouldRestartForResize(
  pod: Pod,
  container: Container,
  actuated: PodAllocation | undefined,
): boolean {
  const change = actuated && findResourceChange(pod, container, actuated);
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

/** Names of the containers that the same sync kills and starts. */
export interface ContainerNamesInSync {
  readonly killed: ReadonlySet<string>;
  readonly started: ReadonlySet<string>;
}

/**
 * Computes what to resize in place (kuberuntime computePodResizeAction, computePodLevelResourcesResizeAction);
 * undefined if nothing. A container that starts gets its new resources then; the pod's cgroup must be resized before
 * that.
 */
export function computeResizeActions(
  pod: Pod,
  status: RuntimePodStatus,
  actuated: PodAllocation | undefined,
  {killed, started}: ContainerNamesInSync,
): ResizeActions | undefined {
  if (actuated === undefined) return undefined;
  const updates = containersOf(pod)
    .filter(({name}) => !killed.has(name))
    .flatMap((container) =>
      findUpdate(pod, container, findContainerStatus(status, container.name), actuated),
    );
  const startsResized = containersOf(pod).some(
    (container) => started.has(container.name) && findResourceChange(pod, container, actuated) !== undefined,
  );
  const wholePod = startsResized || !areResourcesEqual(pod.spec.resources, actuated.pod);
  const [memory, cpu] = [inOrder(updates, 'memory'), inOrder(updates, 'cpu')];
  return memory.length + cpu.length > 0 || wholePod ? {memory, cpu, wholePod} : undefined;
}

function findUpdate(
  pod: Pod,
  container: Container,
  status: RuntimeContainerStatus | undefined,
  actuated: PodAllocation,
): readonly ContainerUpdate[] {
  if (status?.state !== 'CONTAINER_RUNNING') return [];
  const change = findResourceChange(pod, container, actuated);
  return change === undefined ? [] : [{container, id: status.id, ...change}];
}

/** Returns the updates of one resource: first decreases in reverse order, then increases. */
function inOrder(updates: readonly ContainerUpdate[], resource: Resource): readonly ContainerUpdate[] {
  const isLess = ({desired, current}: ContainerUpdate): boolean => {
    const part = PARTS[resource].find((each) => desired[each] !== current[each]);
    return part !== undefined && desired[part] < current[part];
  };
  const changed = updates.filter((update) => differs(update, resource));
  return [...changed.filter(isLess).toReversed(), ...changed.filter((update) => !isLess(update))];
}

/** Reports whether the pod or a running container does not have its desired resources yet (IsPodResizeInProgress). */
export function isResizeInProgress(
  pod: Pod,
  status: RuntimePodStatus,
  actuated: PodAllocation | undefined,
): boolean {
  if (actuated === undefined) return false;
  if (!areResourcesEqual(pod.spec.resources, actuated.pod)) return true;
  return containersOf(pod).some(
    (container) =>
      findUpdate(pod, container, findContainerStatus(status, container.name), actuated).length > 0,
  );
}

/** Returns the pod with the resources that were last actuated. */
export function withActuatedResources(pod: Pod, actuated: PodAllocation | undefined): Pod {
  return actuated === undefined ? pod : withAllocation(pod, actuated);
}
