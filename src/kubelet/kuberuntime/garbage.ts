import type {PodSandboxId} from '../../cri/index.js';
import type {RuntimeContainerStatus, RuntimePodStatus} from '../container/pod-status.js';
import {isDead} from './remove-container.js';

/** How many dead containers stay for their logs and last state (kubecontainer.GCPolicy). Negative: any number. */
export interface ContainerGcPolicy {
  /** Of each container of a pod (--maximum-dead-containers-per-container). */
  readonly maxPerContainer: number;
  /** Of all pods together (--maximum-dead-containers). */
  readonly maxContainers: number;
  /** How old they have to be to go, since they were made (--minimum-container-ttl-duration). */
  readonly minAgeMs: number;
}

export const DEFAULT_CONTAINER_GC: ContainerGcPolicy = {maxPerContainer: 1, maxContainers: -1, minAgeMs: 0};

/** What is left of a pod. */
export interface PodRemains {
  readonly status: RuntimePodStatus;
  /** Nobody wants the pod any more: nothing of it stays. */
  readonly isUnwanted: boolean;
}

/** What of a pod in the runtime nobody needs any more. */
export interface Garbage {
  readonly containers: readonly RuntimeContainerStatus[];
  readonly sandboxes: readonly PodSandboxId[];
}

/** Dead instances of one container, newest first. */
type Unit = readonly RuntimeContainerStatus[];

/**
 * What of these pods goes at `now` (kuberuntime_gc.go): what the policy doesn't keep, and of the sandboxes that aren't
 * ready and have no containers all but the pod's newest. Of an unwanted pod all goes. In the pods' order.
 */
export function planGarbage(
  pods: readonly PodRemains[],
  policy: ContainerGcPolicy,
  now: number,
): readonly Garbage[] {
  const before = policy.minAgeMs <= 0 ? undefined : BigInt(Math.trunc(now - policy.minAgeMs)) * 1_000_000n;
  const units = pods
    .filter(({isUnwanted}) => !isUnwanted)
    .flatMap(({status}) => unitsOf(evictable(status, before)));
  const kept = new Set(keptOf(units, policy).flat());
  return pods.map((remains) => {
    const containers = evictable(remains.status, before).filter((container) => !kept.has(container));
    return {containers, sandboxes: inactiveSandboxes(remains, new Set(containers))};
  });
}

/**
 * Which dead containers go when one of the pod has died: older instances, of whose kind one stays at least
 * (pod_container_deletor.go).
 */
export function deadContainers(
  {status, isUnwanted}: PodRemains,
  {maxPerContainer}: ContainerGcPolicy,
): readonly RuntimeContainerStatus[] {
  const dead = evictable(status, undefined);
  const kept = isUnwanted ? [] : newestOfEach(unitsOf(dead), Math.max(1, maxPerContainer)).flat();
  return dead.filter((container) => !kept.includes(container));
}

/** The dead ones made before then, in nanoseconds. */
function evictable(
  {containers}: RuntimePodStatus,
  before: bigint | undefined,
): readonly RuntimeContainerStatus[] {
  return containers.filter(
    (container) => isDead(container) && (before === undefined || container.cri.createdAt <= before),
  );
}

function unitsOf(containers: readonly RuntimeContainerStatus[]): readonly Unit[] {
  const names = new Set(containers.map(({name}) => name));
  return [...names].map((name) =>
    containers.filter((container) => container.name === name).toSorted(newestFirst),
  );
}

function keptOf(
  units: readonly Unit[],
  {maxPerContainer, maxContainers}: ContainerGcPolicy,
): readonly Unit[] {
  const own = maxPerContainer < 0 ? units : newestOfEach(units, maxPerContainer);
  if (maxContainers < 0 || own.flat().length <= maxContainers) return own;
  const fair = newestOfEach(own, Math.max(1, Math.floor(maxContainers / own.length)));
  return [fair.flat().toSorted(newestFirst).slice(0, maxContainers)];
}

function newestOfEach(units: readonly Unit[], count: number): readonly Unit[] {
  return units.map((unit) => unit.slice(0, count));
}

function inactiveSandboxes(
  {status, isUnwanted}: PodRemains,
  gone: ReadonlySet<RuntimeContainerStatus>,
): readonly PodSandboxId[] {
  const left = status.containers.filter((container) => !gone.has(container));
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
