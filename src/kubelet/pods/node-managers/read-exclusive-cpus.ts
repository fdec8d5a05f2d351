import {parseJsonObject} from '../../../base/parse-json-object.js';
import {machineReader} from '../../node/read-machine.js';
import type {CpuTopology} from '../../contract/resources/machine.js';
import {unite} from '../../resources/bit-set.js';
import {readCheckpointFile} from '../../resources/checkpoint/checkpoint.js';
import {formatCpuSet} from '../../resources/cpu-set.js';
import {discoverCpus} from '../../resources/machine/discover-cpus.js';
import {listCpuShares, type CpuOwner, type CpuShare} from '../../managers/cpu/list-cpu-shares.js';
import {parseCpuState} from '../../managers/cpu/state/cpu-checkpoint.js';
import {cpuStatePath, type ContainerCpus} from '../../managers/cpu/state/cpu-state.js';

/**
 * Reads who has which CPUs of this machine, as the kubelet of the root directory stored it; undefined unless it gives containers
 * CPUs of their own. Rejects with SystemError if the state cannot be read.
 */
export async function readCpuShares(rootDir: string): Promise<readonly CpuShare[] | undefined> {
  const containers = await readContainerCpus(rootDir);
  return containers && listCpuShares(discoverCpus(machineReader()()), containers);
}

/** Exclusive CPUs in the kernel's list form, by UID of the pod and name of the container. */
export type ExclusiveCpus = ReadonlyMap<string, ReadonlyMap<string, string>>;

/**
 * Reads which containers have CPUs of their own, as the kubelet of the root directory stored it. Rejects with SystemError if the
 * state cannot be read.
 */
export async function readExclusiveCpus(rootDir: string): Promise<ExclusiveCpus> {
  const containers = [...((await readContainerCpus(rootDir)) ?? [])];
  return new Map(
    containers.map(([uid, own]) => [
      uid,
      new Map([...own].map(([name, cpus]) => [name, formatCpuSet(cpus)] as const)),
    ]),
  );
}

/** CPUs of the machine. */
export interface NodeCpus {
  readonly topology: Pick<CpuTopology, 'socketCount' | 'numaNodeCount' | 'coreCount' | 'cpuCount'>;
  /** Exclusive CPUs of all containers in the kernel's list form; empty if there are none. */
  readonly exclusive: string;
}

/**
 * Reads the CPUs of this machine, and those that the kubelet of the root directory gave containers for themselves. Rejects with
 * SystemError if the machine or the state cannot be read.
 */
export async function readNodeCpus(rootDir: string): Promise<NodeCpus> {
  const containers = [...((await readContainerCpus(rootDir))?.values() ?? [])];
  const exclusive = unite(containers.flatMap((own) => [...own.values()]));
  return {topology: discoverCpus(machineReader()()), exclusive: formatCpuSet(exclusive)};
}

/** A CPU of this machine, and who owns it. */
export interface OwnedCpu {
  readonly id: number;
  readonly socket: number;
  readonly numaNode: number;
  /** Lowest CPU of the core. */
  readonly core: number;
  /** Memory of the NUMA node; absent if the kernel does not say. */
  readonly memoryBytes?: number;
  /** Containers that the CPU was given to; none if it is shared. */
  readonly owners: readonly CpuOwner[];
}

/**
 * Reads the CPUs of this machine, lowest first, and whom the kubelet of the root directory gave them to. Rejects with SystemError if
 * the machine or the state cannot be read.
 */
export async function readCpuOwners(rootDir: string): Promise<readonly OwnedCpu[]> {
  const containers = [...((await readContainerCpus(rootDir)) ?? [])];
  const machine = machineReader()();
  const memory = new Map(machine.numaNodes.map(({id, memoryBytes}) => [id, Number(memoryBytes)]));
  return [...discoverCpus(machine).cpus]
    .toSorted(([a], [b]) => a - b)
    .map(([id, {socket, numaNode, core}]) => {
      const memoryBytes = memory.get(numaNode) ?? 0;
      const owners = containers.flatMap(([uid, own]) =>
        [...own].flatMap(([container, set]) => ((set & (1n << BigInt(id))) === 0n ? [] : [{uid, container}])),
      );
      return {id, socket, numaNode, core, ...(memoryBytes > 0 && {memoryBytes}), owners};
    });
}

/** Returns the CPUs of containers that a kubelet stored; undefined unless its policy is static. */
async function readContainerCpus(rootDir: string): Promise<ContainerCpus | undefined> {
  const text = await readCheckpointFile(cpuStatePath(rootDir));
  if (text === undefined || parseJsonObject(text)['policyName'] !== 'static') return undefined;
  const format = {policy: 'static', managesPodLevel: true, findContainer: () => undefined};
  return parseCpuState(text, format).containers;
}
