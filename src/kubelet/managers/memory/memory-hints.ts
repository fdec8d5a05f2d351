import {isDeepStrictEqual} from 'node:util';
import type {TopologyHint, TopologyHints} from '../../contract/node-manager.js';
import {bitSet, countMembers, isSubset, listMembers} from '../../resources/bit-set.js';
import {compareNarrowness, numaCombinations} from '../../resources/numa-nodes.js';
import type {MemoryRequests} from './memory-requests.js';
import type {MachineMemory, MemoryBlock, MemoryTable} from './memory-state.js';

/** A hint with nodes. */
export interface MemoryHint extends TopologyHint {
  readonly numaNodes: bigint;
}

/** Returns how many bytes of a type the pod's init containers have on exactly these nodes, which later containers can use. */
export type ReusableMemory = (numaNodes: bigint, type: string) => number;

/**
 * Returns the sets of NUMA nodes that have enough memory of all types, and are either single nodes outside of any group, or
 * unused, or the very group. Preferred are those of the size that would do on an empty machine (calculateHints).
 */
export function findHints(
  machine: MachineMemory,
  requests: MemoryRequests,
  reusable: ReusableMemory,
): readonly MemoryHint[] {
  const nodes = [...machine.keys()].toSorted((a, b) => a - b);
  const has = (mask: bigint, amount: (table: MemoryTable) => number, extra?: ReusableMemory): boolean =>
    [...requests].every(
      ([type, size]) => sumOf(machine, mask, type, amount) + (extra?.(mask, type) ?? 0) >= size,
    );
  const possible = numaCombinations(nodes).filter((mask) => has(mask, ({allocatable}) => allocatable));
  const least = Math.min(nodes.length, ...possible.map(countMembers));
  return possible
    .filter((mask) => isFreeToGroup(machine, mask) && has(mask, ({free}) => free, reusable))
    .map((numaNodes) => ({numaNodes, preferred: countMembers(numaNodes) === least}));
}

function sumOf(
  machine: MachineMemory,
  mask: bigint,
  type: string,
  amount: (table: MemoryTable) => number,
): number {
  return listMembers(mask).reduce((sum, node) => {
    const table = machine.get(node)?.memoryMap.get(type);
    return table === undefined ? sum : sum + amount(table);
  }, 0);
}

/** Reports whether blocks can be on these nodes: a node of a group is used only by blocks of the whole group. */
function isFreeToGroup(machine: MachineMemory, mask: bigint): boolean {
  const [first = 0, ...others] = listMembers(mask);
  if (others.length === 0) return (machine.get(first)?.cells.length ?? 1) <= 1;
  return !violatesGroups(machine, mask);
}

/** Reports whether blocks on several nodes would use a node that is used alone, or in another group. */
export function violatesGroups(machine: MachineMemory, mask: bigint): boolean {
  const nodes = listMembers(mask);
  return (
    nodes.length > 1 &&
    nodes.some((node) => {
      const memory = machine.get(node);
      return memory !== undefined && memory.numberOfAssignments > 0 && bitSet(memory.cells) !== mask;
    })
  );
}

/** Reports whether the nodes have enough free memory of all types, without what could be reused. */
export function hasEnough(machine: MachineMemory, mask: bigint, requests: MemoryRequests): boolean {
  return [...requests].every(([type, size]) => sumOf(machine, mask, type, ({free}) => free) >= size);
}

/** Returns the best hint: a preferred one, then the narrowest; undefined without any (findBestHint). */
export function bestHint(hints: readonly MemoryHint[]): MemoryHint | undefined {
  return hints.toSorted(
    (a, b) => Number(b.preferred) - Number(a.preferred) || compareNarrowness(a.numaNodes, b.numaNodes),
  )[0];
}

/** Returns the best hint that includes all these nodes; undefined without any. */
export function bestExtension(hints: readonly MemoryHint[], mask: bigint): MemoryHint | undefined {
  return bestHint(hints.filter(({numaNodes}) => isSubset(mask, numaNodes)));
}

/** Returns the hints for the topology manager: the same for all types; none at all if there is no hint. */
export function hintsByType(hints: readonly MemoryHint[], requests: MemoryRequests): TopologyHints {
  return new Map(hints.length === 0 ? [] : [...requests.keys()].map((type) => [type, hints]));
}

/** Returns the hints of a container that has its memory already; none if it now requests something else (regenerateHints). */
export function hintsOfBlocks(blocks: readonly MemoryBlock[], requests: MemoryRequests): TopologyHints {
  const sizes = new Map(blocks.map(({type, size}) => [type, size]));
  if (blocks.length !== requests.size || !isDeepStrictEqual(sizes, new Map(requests))) return new Map();
  return new Map(
    blocks.map(({type, numaAffinity}) => [type, [{numaNodes: bitSet(numaAffinity), preferred: true}]]),
  );
}
