import {join} from 'node:path';
import {unite} from '../../../resources/bit-set.js';
import type {CpuSet} from '../../../resources/cpu-set.js';

/** Returns the path of the state that is stored in a root directory. */
export function cpuStatePath(rootDir: string): string {
  return join(rootDir, 'cpu_manager_state');
}

/** Exclusive CPUs of containers, by UID of the pod and name. */
export type ContainerCpus = ReadonlyMap<string, ReadonlyMap<string, CpuSet>>;

/** Which CPUs belong to whom (cpumanager state). */
export interface CpuState {
  /** CPUs of all containers without CPUs of their own, with the reserved ones. */
  readonly shared: CpuSet;
  readonly containers: ContainerCpus;
  /** CPUs of pods whose containers share them, by UID (PodLevelResourceManagers). */
  readonly pods: ReadonlyMap<string, CpuSet>;
}

/** State of a manager that has no CPUs yet. */
export const EMPTY_STATE: CpuState = {shared: 0n, containers: new Map(), pods: new Map()};

/** Returns the CPUs of a container; undefined if it has none of its own. */
export function containerCpus({containers}: CpuState, uid: string, name: string): CpuSet | undefined {
  return containers.get(uid)?.get(name);
}

/** Returns the state with CPUs of a container; the shared ones are not changed. */
export function withContainer(
  state: CpuState,
  uid: string,
  [name, cpus]: readonly [string, CpuSet],
): CpuState {
  const own = new Map(state.containers.get(uid)).set(name, cpus);
  return {...state, containers: new Map(state.containers).set(uid, own)};
}

/**
 * Returns the state without a container: its CPUs are shared again, except for those of siblings in its pod. CPUs of the pod are
 * shared again with its last container. (staticPolicy.RemoveContainer)
 */
export function withoutContainer(state: CpuState, uid: string, name: string): CpuState {
  const released = containerCpus(state, uid, name);
  if (released === undefined) return state;
  const siblings = new Map(state.containers.get(uid));
  siblings.delete(name);
  const containers = new Map(state.containers);
  if (siblings.size === 0) containers.delete(uid);
  else containers.set(uid, siblings);
  const ofPod = state.pods.get(uid);
  if (ofPod === undefined)
    return {...state, containers, shared: state.shared | (released & ~unite(siblings.values()))};
  if (siblings.size > 0) return {...state, containers};
  const pods = new Map(state.pods);
  pods.delete(uid);
  return {containers, pods, shared: state.shared | ofPod};
}

/** Returns all CPUs that containers have for themselves. */
export function exclusiveCpus({containers}: CpuState): CpuSet {
  return unite([...containers.values()].flatMap((own) => [...own.values()]));
}
