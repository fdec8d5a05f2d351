import type {HugePages, Machine} from '../../../src/kubelet/contract/resources/machine.js';
import {GOLDEN_NODE} from '../golden-cases.js';

const hugePages = (pages = 0): readonly HugePages[] => [
  {pageSizeKib: 1_048_576, pages: 0},
  {pageSizeKib: 2048, pages},
];
const BIG_NODE_BYTES = 12n * 2n ** 30n;

/** Returns a machine whose NUMA nodes are sockets, with the CPUs of their cores and pages of 2 MiB. */
function machineOf(
  memoryBytes: bigint,
  nodes: readonly (readonly (readonly number[])[])[],
  pages: readonly number[] = [],
): Pick<Machine, 'numaNodes' | 'cpuCount' | 'physicalCoreCount' | 'socketCount'> {
  return {
    cpuCount: nodes.flat(2).length,
    physicalCoreCount: nodes.flat().length,
    socketCount: nodes.length,
    numaNodes: nodes.map((cores, id) => ({
      id,
      memoryBytes,
      hugePages: hugePages(pages[id]),
      distances: nodes.map((_node, other) => (other === id ? 10 : 21)),
      caches: [],
      cores: cores.map((threads, core) => ({id: core, socket: id, threads, caches: [], uncoreCaches: []})),
    })),
  };
}

const COMMON = {memoryBytes: GOLDEN_NODE.memoryBytes, swapBytes: 0n, hugePages: hugePages()};

const SMALL: Machine = {...COMMON, ...machineOf(GOLDEN_NODE.memoryBytes, [[[0], [1]]])};

/** Two sockets of four cores; n and n+8 are siblings. */
const BIG: Machine = {
  ...COMMON,
  ...machineOf(
    BIG_NODE_BYTES,
    [0, 4].map((first) => [0, 1, 2, 3].map((core) => [first + core, first + core + 8])),
    [64, 32],
  ),
};

/** Returns the machine of a case: the cases of some names have a pretended one. */
export function machineOfCase(name: string): Machine {
  return name.startsWith('big-') ? BIG : SMALL;
}
