import type {
  CpuCache,
  CpuTopology,
  HugePages,
  Machine,
} from '../../../../src/kubelet/contract/resources/machine.js';
import {readOracle} from '../../read-oracle.js';

/** cAdvisor's MachineInfo, as an oracle writes it. */
export interface OracleMachine {
  readonly memory_capacity: number;
  readonly swap_capacity?: number;
  readonly num_cores: number;
  readonly num_physical_cores: number;
  readonly num_sockets: number;
  readonly hugepages?: OracleHugePages;
  readonly topology: readonly {
    readonly node_id: number;
    readonly memory?: number;
    readonly hugepages: OracleHugePages;
    readonly distances: readonly number[] | null;
    readonly cores: readonly OracleCore[] | null;
    readonly caches: OracleCaches;
  }[];
}

interface OracleCore {
  readonly core_id: number;
  readonly socket_id: number;
  readonly thread_ids: readonly number[];
  readonly caches: OracleCaches;
  readonly uncore_caches: OracleCaches;
}

type OracleHugePages = readonly {readonly page_size: number; readonly num_pages: number}[] | null | undefined;
type OracleCaches = readonly (Omit<CpuCache, 'sizeBytes'> & {readonly size: number})[] | null;

/** topology.Discover's result, as an oracle writes it. */
export interface OracleTopology {
  readonly numCPUs: number;
  readonly numCores: number;
  readonly numSockets: number;
  readonly numNUMANodes: number;
  readonly numUncoreCache: number;
  readonly cpu_core_socket_numa_uncore: readonly (readonly number[])[];
}

/** Returns the machine of an oracle. */
export function machineOf(info: OracleMachine): Machine {
  return {
    cpuCount: info.num_cores,
    physicalCoreCount: info.num_physical_cores,
    socketCount: info.num_sockets,
    memoryBytes: BigInt(info.memory_capacity),
    swapBytes: BigInt(info.swap_capacity ?? 0),
    hugePages: hugePagesOf(info.hugepages),
    numaNodes: info.topology.map((node) => ({
      id: node.node_id,
      memoryBytes: BigInt(node.memory ?? 0),
      hugePages: hugePagesOf(node.hugepages),
      distances: node.distances ?? [],
      cores: (node.cores ?? []).map((core) => ({
        id: core.core_id,
        socket: core.socket_id,
        threads: core.thread_ids,
        caches: cachesOf(core.caches),
        uncoreCaches: cachesOf(core.uncore_caches),
      })),
      caches: cachesOf(node.caches),
    })),
  };
}

/** Returns the topology of an oracle. */
export function topologyOf(discovered: OracleTopology): CpuTopology {
  return {
    cpuCount: discovered.numCPUs,
    coreCount: discovered.numCores,
    socketCount: discovered.numSockets,
    numaNodeCount: discovered.numNUMANodes,
    uncoreCacheCount: discovered.numUncoreCache,
    cpus: new Map(
      discovered.cpu_core_socket_numa_uncore.map(
        ([cpu = 0, core = 0, socket = 0, numaNode = 0, uncoreCache = 0]) => [
          cpu,
          {core, socket, numaNode, uncoreCache},
        ],
      ),
    ),
  };
}

/** Machines of the oracles by name. */
export const ORACLE_MACHINES: ReadonlyMap<
  string,
  {readonly machineInfo: OracleMachine; readonly discovered: OracleTopology}
> = new Map(
  (
    readOracle(new URL('topologies.jsonl.gz', import.meta.url)) as readonly {
      readonly name: string;
      readonly machineInfo: OracleMachine;
      readonly discovered: OracleTopology;
    }[]
  ).map(({name, ...rest}) => [name, rest]),
);

function hugePagesOf(pages: OracleHugePages): readonly HugePages[] {
  return (pages ?? []).map((each) => ({pageSizeKib: each.page_size, pages: each.num_pages}));
}

function cachesOf(caches: OracleCaches): readonly CpuCache[] {
  return (caches ?? []).map(({size, ...cache}) => ({...cache, sizeBytes: size}));
}
