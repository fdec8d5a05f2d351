import {groupByName} from '../../../base/by-name.js';
import type {PodSandboxId} from '../../../cri/index.js';
import type {ContainerGcActions} from '../../contract/container-gc-actions.js';
import type {RuntimeContainerStatus, RuntimePodStatus} from '../../contract/runtime-pod-status.js';
import {isDead} from '../../managers/kuberuntime/actions/remove-container.js';

/**
 * Limits of the dead containers retained for their logs and last state (kubecontainer.GCPolicy); negative: no limit.
 */
export interface ContainerGcPolicy {
  /** Per container of a pod (--maximum-dead-containers-per-container). */
  readonly maxPerContainer: number;
  /** In all pods (--maximum-dead-containers). */
  readonly maxContainers: number;
  /** Minimum age of a container before its removal, in ms since its creation (--minimum-container-ttl-duration). */
  readonly minAgeMs: number;
}

export const DEFAULT_CONTAINER_GC_POLICY: ContainerGcPolicy = {
  maxPerContainer: 1,
  maxContainers: -1,
  minAgeMs: 0,
};

/** A pod whose containers are candidates for GC. */
export interface ContainerGcCandidate {
  readonly status: RuntimePodStatus;
  /** True if everything that the pod has in the runtime may be removed (ShouldPodContentBeRemoved). */
  readonly isUnwanted: boolean;
}

/** Dead instances of one container, newest first. */
type Unit = readonly RuntimeContainerStatus[];

/**
 * Returns the actions for each pod at `now`, in the order of the pods (kuberuntime_gc.go). They remove dead containers
 * beyond the policy, and sandboxes that are not ready, have no containers and are not the newest; of an unwanted pod
 * they remove everything.
 */
export function computeContainerGcActions(
  pods: readonly ContainerGcCandidate[],
  policy: ContainerGcPolicy,
  now: number,
): readonly ContainerGcActions[] {
  const before = policy.minAgeMs <= 0 ? undefined : BigInt(Math.trunc(now - policy.minAgeMs)) * 1_000_000n;
  const units = pods
    .filter(({isUnwanted}) => !isUnwanted)
    .flatMap(({status}) => unitsOf(evictable(status, before)));
  const retained = new Set(retainedUnits(units, policy).flat());
  return pods.map((remains) => {
    const containers = evictable(remains.status, before).filter((container) => !retained.has(container));
    return {containers, sandboxes: inactiveSandboxes(remains, new Set(containers))};
  });
}

/**
 * Returns the dead containers to remove after a container of the pod died: older instances, but at least one of each
 * container is retained (pod_container_deletor.go).
 */
export function computeContainersToDelete(
  {status, isUnwanted}: ContainerGcCandidate,
  {maxPerContainer}: ContainerGcPolicy,
): readonly RuntimeContainerStatus[] {
  const dead = evictable(status, undefined);
  const retained = isUnwanted ? [] : newestOfEach(unitsOf(dead), Math.max(1, maxPerContainer)).flat();
  return dead.filter((container) => !retained.includes(container));
}

/** Returns the dead containers created at or before `before`, in ns since the epoch. */
function evictable(
  {containers}: RuntimePodStatus,
  before: bigint | undefined,
): readonly RuntimeContainerStatus[] {
  return containers.filter(
    (container) => isDead(container) && (before === undefined || container.cri.createdAt <= before),
  );
}

function unitsOf(containers: readonly RuntimeContainerStatus[]): readonly Unit[] {
  return [...groupByName(containers).values()].map((instances) => instances.toSorted(newestFirst));
}

function retainedUnits(
  units: readonly Unit[],
  {maxPerContainer, maxContainers}: ContainerGcPolicy,
): readonly Unit[] {
  const own = maxPerContainer < 0 ? units : newestOfEach(units, maxPerContainer);
  if (maxContainers < 0 || own.flat().length <= maxContainers) return own;
  const evenly = newestOfEach(own, Math.max(1, Math.floor(maxContainers / own.length)));
  return [evenly.flat().toSorted(newestFirst).slice(0, maxContainers)];
}

function newestOfEach(units: readonly Unit[], count: number): readonly Unit[] {
  return units.map((unit) => unit.slice(0, count));
}

function inactiveSandboxes(
  {status, isUnwanted}: ContainerGcCandidate,
  removed: ReadonlySet<RuntimeContainerStatus>,
): readonly PodSandboxId[] {
  const left = status.containers.filter((container) => !removed.has(container));
  const inUse = new Set(left.map(({sandboxId}) => sandboxId));
  const [newest] = status.sandboxes;
  return status.sandboxes
    .filter(({id, state}) => state !== 'SANDBOX_READY' && !inUse.has(id))
    .filter((sandbox) => isUnwanted || sandbox !== newest)
    .map(({id}) => id);
}

function newestFirst(a: RuntimeContainerStatus, b: RuntimeContainerStatus): number {
  return b.restartCount - a.restartCount || Number(b.cri.createdAt - a.cri.createdAt);
}
