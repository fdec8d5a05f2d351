import {isDeepStrictEqual} from 'node:util';
import {formatAmount, NANOS_PER_UNIT} from '../../../api/quantity.js';
import {SystemError} from '../../../base/errors.js';
import type {NumaNode} from '../../contract/resources/machine.js';
import type {SystemReservedMemory} from './reserved-memory.js';
import {
  reserve,
  type MachineMemory,
  type MemoryBlock,
  type MemoryState,
  type MemoryTable,
} from './memory-state.js';

/** What the memory manager knows of a NUMA node. */
export type NumaCapacity = Pick<NumaNode, 'id' | 'memoryBytes' | 'hugePages'>;

/** Returns the memory of a machine of which nothing is given out (getDefaultMachineState). */
export function unusedMemory(nodes: readonly NumaCapacity[], reserved: SystemReservedMemory): MachineMemory {
  return new Map(
    nodes.map(({id, memoryBytes, hugePages}) => {
      const table = (type: string, total: number, elsewhere = 0): [string, MemoryTable] => {
        const systemReserved = reserved.get(id)?.get(type) ?? 0;
        const allocatable = total - systemReserved - elsewhere;
        return [type, {total, systemReserved, allocatable, reserved: 0, free: allocatable}];
      };
      const pages = hugePages.map(({pageSizeKib, pages: count}) => ({
        type: `hugepages-${formatAmount({nanos: BigInt(pageSizeKib) * 1024n * NANOS_PER_UNIT, format: 'BinarySI'})}`,
        bytes: pageSizeKib * 1024 * count,
      }));
      const inPages = pages.reduce((sum, {bytes}) => sum + bytes, 0);
      const memoryMap = new Map([
        ...pages.map(({type, bytes}) => table(type, bytes)),
        table('memory', Number(memoryBytes), inPages),
      ]);
      return [id, {numberOfAssignments: 0, memoryMap, cells: [id]}];
    }),
  );
}

/**
 * Checks that a stored state fits the machine: its memory is what results from its blocks. Throws SystemError with the
 * kubelet's text (staticPolicy validateState).
 */
export function checkState(state: MemoryState, unused: MachineMemory, managesPodLevel: boolean): void {
  let expected = unused;
  for (const [pod, containers] of state.containers) {
    const ofPod = managesPodLevel ? (state.pods.get(pod)?.memoryBlocks ?? []) : [];
    const owners: Iterable<readonly [string, readonly MemoryBlock[]]> =
      ofPod.length > 0 ? [['', ofPod]] : containers;
    for (const [container, blocks] of owners)
      for (const block of blocks) {
        checkBlock(block, unused, `(pod: ${pod}, container: ${container})`);
        expected = reserve(expected, block);
      }
  }
  if (!isSameMemory(state.machine, expected))
    throw new SystemError('[memorymanager] the expected machine state is different from the real one');
}

function checkBlock({numaAffinity, type}: MemoryBlock, machine: MachineMemory, owner: string): void {
  for (const node of numaAffinity) {
    const memory = machine.get(node);
    const problem = (text: string): SystemError =>
      new SystemError(`[memorymanager] ${owner} the memory assignment uses ${text} that does not exist`);
    if (memory === undefined) throw problem('the NUMA');
    if (!memory.memoryMap.has(type)) throw problem('memory resource');
  }
}

/** Compares two machines. What is given out is compared per group of nodes: the order of the blocks decides within one. */
function isSameMemory(real: MachineMemory, expected: MachineMemory): boolean {
  if (real.size !== expected.size) return false;
  return [...real].every(([node, {numberOfAssignments, cells, memoryMap}]) => {
    const other = expected.get(node);
    if (other === undefined || other.memoryMap.size !== memoryMap.size) return false;
    if (other.numberOfAssignments !== numberOfAssignments) return false;
    if (!isDeepStrictEqual(ascending(cells), ascending(other.cells))) return false;
    return [...memoryMap].every(([type, table]) => {
      const otherTable = other.memoryMap.get(type);
      return (
        otherTable !== undefined &&
        isDeepStrictEqual(capacity(table), capacity(otherTable)) &&
        isDeepStrictEqual(sumOfGroup(real, cells, type), sumOfGroup(expected, cells, type))
      );
    });
  });
}

function ascending(nodes: readonly number[]): readonly number[] {
  return nodes.toSorted((a, b) => a - b);
}

function capacity({total, systemReserved, allocatable}: MemoryTable): readonly number[] {
  return [total, systemReserved, allocatable];
}

function sumOfGroup(machine: MachineMemory, nodes: readonly number[], type: string): readonly number[] {
  const tables = nodes.flatMap((node) => machine.get(node)?.memoryMap.get(type) ?? []);
  return [
    tables.reduce((sum, {free}) => sum + free, 0),
    tables.reduce((sum, {reserved}) => sum + reserved, 0),
  ];
}
