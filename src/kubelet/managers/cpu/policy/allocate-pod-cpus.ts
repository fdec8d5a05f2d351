import {containersOf, isRestartableInitContainer} from '../../../../api/pod-containers.js';
import type {Pod} from '../../../../api/types/v1-pod.js';
import {AdmissionError} from '../../../contract/resources/admission-error.js';
import {podRef} from '../../../contract/pod-ref.js';
import type {CpuSet} from '../../../resources/cpu-set.js';
import {withContainer, type CpuState} from '../state/cpu-state.js';
import {countForContainer, countForPod} from './exclusive-counts.js';
import {allocateCpus, requireWholeCores, takeByTopology, type StaticPolicy} from './static-policy.js';

/**
 * Allocates CPUs for a pod with resources of its own, and distributes them to its containers: some get their own, the others
 * share what remains (staticPolicy.AllocatePod). Throws AdmissionError or SystemError if that is not possible.
 */
export function allocateForPod(
  policy: StaticPolicy,
  state: CpuState,
  {pod, numaNodes}: {readonly pod: Pod; readonly numaNodes: bigint | undefined},
): CpuState {
  const count = countForPod(policy, pod);
  if (count === 0) return state;
  const problem = findEmptyPool(policy, pod);
  if (problem !== undefined)
    throw new AdmissionError('EmptyPodSharedPoolError', problem, 'request more CPUs for the pod');
  requireWholeCores(policy, state, count);
  const cpus = allocateCpus(policy, state, {count, numaNodes, reusable: 0n});
  const {uid} = podRef(pod);
  return [...distribute(policy, pod, cpus)].reduce<CpuState>(
    (changed, entry) => withContainer(changed, uid, entry),
    {...state, shared: state.shared & ~cpus, pods: new Map(state.pods).set(uid, cpus)},
  );
}

/** Returns the CPUs of each container of a pod. */
function distribute(policy: StaticPolicy, pod: Pod, cpus: CpuSet): ReadonlyMap<string, CpuSet> {
  const own = new Map<string, CpuSet>();
  let pool = cpus;
  const take = (name: string, count: number): CpuSet => {
    const taken = takeByTopology(policy, pool, count);
    own.set(name, taken);
    return taken;
  };
  for (const container of pod.spec.initContainers ?? []) {
    const count = countForContainer(policy, pod, container);
    const isSidecar = isRestartableInitContainer(container);
    if (count > 0) {
      const taken = take(container.name, count);
      if (isSidecar) pool &= ~taken;
    } else if (!isSidecar) own.set(container.name, pool);
  }
  for (const container of pod.spec.containers) {
    const count = countForContainer(policy, pod, container);
    if (count > 0) pool &= ~take(container.name, count);
  }
  return new Map(containersOf(pod).map(({name}) => [name, own.get(name) ?? pool]));
}

/** Returns why containers without CPUs of their own would have none at all (validatePodScopeResources). */
export function findEmptyPool(policy: StaticPolicy, pod: Pod): string | undefined {
  const total = countForPod(policy, pod);
  let [exclusive, hasShared] = [0, false];
  for (const container of pod.spec.initContainers ?? []) {
    const count = countForContainer(policy, pod, container);
    const isSidecar = isRestartableInitContainer(container);
    if (!isSidecar && count === 0 && exclusive >= total)
      return 'pod rejected, pod has shared init containers but no cpus available for them';
    if (isSidecar) [exclusive, hasShared] = [exclusive + count, hasShared || count === 0];
  }
  for (const container of pod.spec.containers) {
    const count = countForContainer(policy, pod, container);
    [exclusive, hasShared] = [exclusive + count, hasShared || count === 0];
  }
  return hasShared && exclusive >= total
    ? 'pod rejected, sum of exclusive container cpu requests equals pod budget, leaving no cpus for shared containers'
    : undefined;
}
