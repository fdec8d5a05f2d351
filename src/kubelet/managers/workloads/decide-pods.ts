import type {Deployment, StatefulSet} from '../../../api/types/v1-workloads.js';
import {createReplicaSet} from '../../../api/workloads/expand-workload.js';
import type {PodUid} from '../../../cri/index.js';
import {podRef} from '../../contract/pod-ref.js';
import type {DesiredPodSet, DesiredPod} from '../../contract/pod-update.js';

/** Pods of a workload at the time of a decision. */
export interface PodSetState {
  /** Pods that were desired until now. */
  readonly current: readonly DesiredPod[];
  /** True if pods that are no longer desired have not been removed yet. */
  readonly isShrinking: boolean;
  /** Reports whether a pod has been ready for minReadySeconds. */
  readonly isAvailable: (uid: PodUid) => boolean;
}

/**
 * Returns the pods that a workload wants now. A Deployment keeps the pods of previous templates until all new ones are
 * available. A StatefulSet starts, updates and removes its pods in order. The pods of other workloads are replaced at
 * once.
 */
export function decidePods({workload, pods}: DesiredPodSet, state: PodSetState): readonly DesiredPod[] {
  if (workload.kind === 'Deployment') return decideDeployment(workload, pods, state);
  return workload.kind === 'StatefulSet' ? decideStatefulSet(workload, pods, state) : pods;
}

function decideDeployment(
  deployment: Deployment,
  pods: readonly DesiredPod[],
  {current, isAvailable}: PodSetState,
): readonly DesiredPod[] {
  if (pods.every(({uid}) => isAvailable(uid))) return pods;
  const replicaSet = createReplicaSet(deployment).metadata.name;
  const names = new Set(pods.map(nameOf));
  const isPrevious = (pod: DesiredPod): boolean =>
    !names.has(nameOf(pod)) &&
    !(pod.pod.metadata.ownerReferences ?? []).some(({name}) => name === replicaSet);
  return [...pods, ...current.filter(isPrevious)];
}

function nameOf({pod}: DesiredPod): string {
  return podRef(pod).name;
}

function decideStatefulSet(
  {spec}: StatefulSet,
  pods: readonly DesiredPod[],
  {current, isShrinking, isAvailable}: PodSetState,
): readonly DesiredPod[] {
  const isOrdered = spec.podManagementPolicy !== 'Parallel';
  const byName = new Map(current.map((pod) => [nameOf(pod), pod]));
  const slots = pods.map((wanted) => ({wanted, existing: byName.get(nameOf(wanted))}));
  const outdated = slots.filter(
    ({wanted, existing}) => existing !== undefined && existing.uid !== wanted.uid,
  );
  const updated = slots.filter(({wanted, existing}) => existing?.uid === wanted.uid);
  // The pod with the highest ordinal is replaced first, and the next one when it is available.
  const replaced = updated.every(({wanted}) => isAvailable(wanted.uid)) ? outdated.at(-1) : undefined;
  const result: DesiredPod[] = [];
  let mayStart = true;
  for (const slot of slots) {
    const {wanted, existing} = slot;
    if (existing !== undefined) result.push(outdated.includes(slot) && slot !== replaced ? existing : wanted);
    else if (mayStart) result.push(wanted);
    if (isOrdered && !isAvailable((existing ?? wanted).uid)) mayStart = false;
  }
  const names = new Set(pods.map(nameOf));
  const extra = current
    .filter((pod) => !names.has(nameOf(pod)))
    .toSorted((a, b) => ordinalOf(a) - ordinalOf(b));
  if (isOrdered) result.push(...(isShrinking ? extra : extra.slice(0, -1)));
  return result;
}

function ordinalOf({pod}: DesiredPod): number {
  return Number(pod.metadata.labels?.['apps.kubernetes.io/pod-index'] ?? 0);
}
