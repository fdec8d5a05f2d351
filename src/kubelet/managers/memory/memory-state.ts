/** Bytes of one type of memory on a NUMA node. */
export interface MemoryTable {
  readonly total: number;
  readonly systemReserved: number;
  readonly allocatable: number;
  /** Bytes given to containers. */
  readonly reserved: number;
  readonly free: number;
}

/** Memory of a NUMA node. */
export interface NumaMemory {
  /** Number of blocks of containers on the node. */
  readonly numberOfAssignments: number;
  /** By type: `memory`, or a size of huge pages such as `hugepages-2Mi`. */
  readonly memoryMap: ReadonlyMap<string, MemoryTable>;
  /** The nodes from which its blocks are taken together, itself included. */
  readonly cells: readonly number[];
}

/** Memory of the machine by NUMA node. */
export type MachineMemory = ReadonlyMap<number, NumaMemory>;

/** Memory of one type that a container has on some NUMA nodes. */
export interface MemoryBlock {
  /** In ascending order. */
  readonly numaAffinity: readonly number[];
  readonly type: string;
  readonly size: number;
}

/** Memory of a whole pod that has resources of its own. */
export interface PodMemory {
  readonly memoryBlocks: readonly MemoryBlock[];
}

/** What the memory manager has given to containers. Values are never changed in place. */
export interface MemoryState {
  readonly machine: MachineMemory;
  /** Blocks by pod UID and container. */
  readonly containers: ReadonlyMap<string, ReadonlyMap<string, readonly MemoryBlock[]>>;
  /** By pod UID. */
  readonly pods: ReadonlyMap<string, PodMemory>;
}

/** Returns the blocks of a container; undefined if it was given none. */
export function blocksOf(
  state: MemoryState,
  pod: string,
  container: string,
): readonly MemoryBlock[] | undefined {
  return state.containers.get(pod)?.get(container);
}

/** Returns the state with these blocks of a container. */
export function withBlocks(
  state: MemoryState,
  pod: string,
  container: string,
  blocks: readonly MemoryBlock[],
): MemoryState {
  const ofPod = new Map(state.containers.get(pod)).set(container, blocks);
  return {...state, containers: new Map(state.containers).set(pod, ofPod)};
}

/** Returns the machine after a block was taken: from its nodes in their order, as much as each has. */
export function reserve(machine: MachineMemory, {numaAffinity, type, size}: MemoryBlock): MachineMemory {
  let rest = size;
  return changeNodes(machine, numaAffinity, ({numberOfAssignments, memoryMap}) => {
    const table = memoryMap.get(type);
    const taken = Math.min(rest, Math.max(table?.free ?? 0, 0));
    rest -= taken;
    return {
      numberOfAssignments: numberOfAssignments + 1,
      cells: numaAffinity,
      memoryMap: moveToReserved(memoryMap, type, taken),
    };
  });
}

/** Returns the machine after a block was given back: to its nodes in their order, as much as each has given. */
function giveBack(machine: MachineMemory, {numaAffinity, type, size}: MemoryBlock): MachineMemory {
  let rest = size;
  return changeNodes(machine, numaAffinity, ({numberOfAssignments, memoryMap, cells}, node) => {
    const released = Math.min(rest, memoryMap.get(type)?.reserved ?? 0);
    rest -= released;
    const assignments = numberOfAssignments - 1;
    return {
      numberOfAssignments: assignments,
      cells: assignments === 0 ? [node] : cells,
      memoryMap: moveToReserved(memoryMap, type, -released),
    };
  });
}

function changeNodes(
  machine: MachineMemory,
  nodes: readonly number[],
  change: (memory: NumaMemory, node: number) => NumaMemory,
): MachineMemory {
  const changed = new Map(machine);
  for (const node of nodes) {
    const memory = changed.get(node);
    if (memory !== undefined) changed.set(node, change(memory, node));
  }
  return changed;
}

function moveToReserved(
  memoryMap: NumaMemory['memoryMap'],
  type: string,
  bytes: number,
): NumaMemory['memoryMap'] {
  const table = memoryMap.get(type);
  if (table === undefined || bytes === 0) return memoryMap;
  const moved = {...table, reserved: table.reserved + bytes, free: table.free - bytes};
  return new Map(memoryMap).set(type, moved);
}

/**
 * Returns the state after a container was removed. Memory of a whole pod is given back with its last container
 * (staticPolicy RemoveContainer).
 */
export function release(state: MemoryState, pod: string, container: string): MemoryState {
  const blocks = blocksOf(state, pod, container);
  if (blocks === undefined) return state;
  const rest = new Map(state.containers.get(pod));
  rest.delete(container);
  const containers = new Map(state.containers);
  if (rest.size === 0) containers.delete(pod);
  else containers.set(pod, rest);
  const ofPod = state.pods.get(pod);
  if (ofPod === undefined) return {...state, containers, machine: blocks.reduce(giveBack, state.machine)};
  if (rest.size > 0) return {...state, containers};
  const pods = new Map(state.pods);
  pods.delete(pod);
  return {containers, pods, machine: ofPod.memoryBlocks.reduce(giveBack, state.machine)};
}
