import {isRestartableInitContainer} from '../../../../api/pod-containers.js';
import type {Container, Pod} from '../../../../api/types/v1-pod.js';
import {podRef} from '../../../contract/pod-ref.js';
import type {CpuSet} from '../../../resources/cpu-set.js';
import {hasPodLevelResources} from '../../../resources/resource-amounts.js';
import {containerCpus, withContainer, type CpuState} from '../state/cpu-state.js';
import {countForContainer} from './exclusive-counts.js';
import {allocateCpus, requireWholeCores, type StaticPolicy} from './static-policy.js';

/** Which CPUs belong to whom, and those of init containers, which later containers of the same pod can have. */
export interface Allocations {
  readonly state: CpuState;
  readonly reusable: {readonly uid: string; readonly cpus: CpuSet};
}

/** Returns the CPUs that a container of the pod can have from its init containers. */
export function reusableCpus({reusable}: Allocations, uid: string): CpuSet {
  return reusable.uid === uid ? reusable.cpus : 0n;
}

/** Reports whether pods like this get no exclusive CPUs, since they have resources of their own. */
export function isSkipped({managesPodLevel}: StaticPolicy, pod: Pod): boolean {
  return !managesPodLevel && hasPodLevelResources(pod);
}

/** A container, and the NUMA nodes to take its CPUs from; undefined for any. */
export interface ContainerAllocation {
  readonly pod: Pod;
  readonly container: Container;
  readonly numaNodes: bigint | undefined;
}

/**
 * Allocates the exclusive CPUs of a container (staticPolicy.Allocate); one that has some keeps them. Throws AdmissionError or
 * SystemError if they cannot be had.
 */
export function allocateForContainer(
  policy: StaticPolicy,
  allocations: Allocations,
  {pod, container, numaNodes}: ContainerAllocation,
): Allocations {
  const count = countForContainer(policy, pod, container);
  if (count === 0 || isSkipped(policy, pod)) return allocations;
  const {state} = allocations;
  const {uid} = podRef(pod);
  requireWholeCores(policy, state, count);
  const known = containerCpus(state, uid, container.name);
  const cpus =
    known ?? allocateCpus(policy, state, {count, numaNodes, reusable: reusableCpus(allocations, uid)});
  const shared = known === undefined ? state.shared & ~cpus : state.shared;
  return {
    state: known === undefined ? withContainer({...state, shared}, uid, [container.name, cpus]) : state,
    reusable: {uid, cpus: reuse(pod, container, {cpus, before: reusableCpus(allocations, uid)})},
  };
}

/** Returns the reusable CPUs after a container got its own: init containers end before others start, but sidecars run on. */
function reuse(
  {spec}: Pod,
  container: Container,
  {cpus, before}: {readonly cpus: CpuSet; readonly before: CpuSet},
): CpuSet {
  const init = spec.initContainers?.find(({name}) => name === container.name);
  return init !== undefined && !isRestartableInitContainer(init) ? before | cpus : before & ~cpus;
}
