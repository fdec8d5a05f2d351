import type {CpuTopology} from '../../contract/resources/machine.js';
import {formatCpuSet, type CpuSet} from '../../resources/cpu-set.js';
import type {ContainerCpus} from './state/cpu-state.js';

/** A container with CPUs of its own. */
export interface CpuOwner {
  readonly uid: string;
  readonly container: string;
}

/** CPUs of a socket and NUMA node with the same owners; without owners they are shared. */
export interface CpuShare {
  readonly socket: number;
  readonly numaNode: number;
  /** Cores, and CPUs, in the kernel's list form. */
  readonly cores: string;
  readonly cpus: string;
  /** Containers of a pod that follow one another can have the same CPUs. */
  readonly owners: readonly CpuOwner[];
}

interface Group extends Pick<CpuShare, 'socket' | 'numaNode' | 'owners'> {
  cores: CpuSet;
  cpus: CpuSet;
}

/** Lists who has which CPUs, by socket and NUMA node, those with the lowest CPU first. */
export function listCpuShares({cpus}: CpuTopology, containers: ContainerCpus): readonly CpuShare[] {
  const owned = [...containers].flatMap(([uid, own]) =>
    [...own].map(([container, set]) => ({owner: {uid, container}, set})),
  );
  const groups = new Map<string, Group>();
  for (const [cpu, {socket, numaNode, core}] of [...cpus].toSorted(([a], [b]) => a - b)) {
    const bit = 1n << BigInt(cpu);
    const owners = owned.filter(({set}) => (set & bit) !== 0n).map(({owner}) => owner);
    const key = JSON.stringify([socket, numaNode, owners]);
    const group = groups.get(key) ?? {socket, numaNode, owners, cores: 0n, cpus: 0n};
    group.cpus |= bit;
    group.cores |= 1n << BigInt(core);
    groups.set(key, group);
  }
  return [...groups.values()]
    .toSorted((a, b) => a.socket - b.socket || a.numaNode - b.numaNode)
    .map((group) => ({...group, cores: formatCpuSet(group.cores), cpus: formatCpuSet(group.cpus)}));
}
