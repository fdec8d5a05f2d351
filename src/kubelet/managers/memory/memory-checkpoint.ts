import {SystemError} from '../../../base/errors.js';
import {goQuote} from '../../../format/go-quote.js';
import {
  corruptCheckpoint,
  formatCheckpoint,
  goChecksum,
  hasRightChecksum,
} from '../../resources/checkpoint/checkpoint.js';
import {
  goInteger,
  goMap,
  goPointer,
  goSlice,
  goString,
  goStruct,
  readGoJson,
  type GoType,
} from '../../resources/checkpoint/go-type.js';
import type {MachineMemory, MemoryBlock, MemoryState, MemoryTable, NumaMemory} from './memory-state.js';

const text = goString();
const resourceName = goString('v1.ResourceName');
const int = goInteger('int');
const uint64 = goInteger('uint64');
const ints = goSlice('[]int', int);

const memoryTable = goStruct<MemoryTable>('state.MemoryTable', {
  total: {name: 'TotalMemSize', type: uint64},
  systemReserved: {name: 'SystemReserved', type: uint64},
  allocatable: {name: 'Allocatable', type: uint64},
  reserved: {name: 'Reserved', type: uint64},
  free: {name: 'Free', type: uint64},
});

const numaNode = goStruct('state.NUMANodeState', {
  numberOfAssignments: {name: 'NumberOfAssignments', type: int},
  memoryMap: {
    name: 'MemoryMap',
    type: goMap('map[v1.ResourceName]*state.MemoryTable', resourceName, goPointer(memoryTable)),
  },
  cells: {name: 'Cells', type: ints},
});

const blocks = goSlice(
  '[]state.Block',
  goStruct('state.Block', {
    numaAffinity: {name: 'NUMAAffinity', type: ints},
    type: {name: 'Type', type: resourceName},
    size: {name: 'Size', type: uint64},
  }),
);

const POLICY_NAME = {name: 'PolicyName', type: text};
const MACHINE_STATE = {
  name: 'MachineState',
  type: goMap('state.NUMANodeMap', int, goPointer(numaNode)),
};
const ENTRIES = {
  name: 'Entries',
  type: goMap('state.ContainerMemoryAssignments', text, goMap('map[string][]state.Block', text, blocks)),
  omitEmpty: true,
};
const CHECKSUM = {name: 'Checksum', type: goChecksum};

type ValueOf<T> = T extends GoType<infer V> ? V : never;

/** The file's content, as the kubelet's structures have it. */
interface Checkpoint {
  readonly policyName: string;
  readonly machineState: ValueOf<typeof MACHINE_STATE.type>;
  readonly entries: ValueOf<typeof ENTRIES.type>;
  readonly checksum: number;
}

const podEntry = goStruct('state.PodEntry', {
  memoryBlocks: {name: 'MemoryBlocks', type: blocks, omitEmpty: true},
});

interface PodLevelCheckpoint extends Checkpoint {
  readonly podEntries: ReadonlyMap<string, ValueOf<typeof podEntry>> | undefined;
}

/** Version 1, whose name in Go is that of the latest one where its checksum is computed. */
const checkpointType = goStruct<Checkpoint>(
  'state.MemoryManagerCheckpoint',
  {policyName: POLICY_NAME, machineState: MACHINE_STATE, entries: ENTRIES, checksum: CHECKSUM},
  'state.MemoryManagerCheckpointV1',
);

/** Version 2, with the memory of whole pods. */
const podLevelType = goStruct<PodLevelCheckpoint>('state.MemoryManagerCheckpoint', {
  policyName: POLICY_NAME,
  machineState: MACHINE_STATE,
  entries: ENTRIES,
  podEntries: {
    name: 'PodEntries',
    type: goMap('state.PodMemoryAssignments', text, podEntry),
    omitEmpty: true,
  },
  checksum: CHECKSUM,
});

/** Returns the text of the file memory_manager_state, byte by byte as a kubelet writes it. */
export function formatMemoryCheckpoint(
  policyName: string,
  state: MemoryState,
  managesPodLevel: boolean,
): string {
  const content = {policyName, machineState: state.machine, entries: state.containers};
  return managesPodLevel
    ? formatCheckpoint(podLevelType, {...content, podEntries: state.pods})
    : formatCheckpoint(checkpointType, content);
}

/**
 * Returns the state in the text of the file. Throws SystemError with the kubelet's text if it is none, or of another policy
 * (stateCheckpoint restoreState).
 */
export function parseMemoryCheckpoint(
  file: string,
  policyName: string,
  managesPodLevel: boolean,
): MemoryState {
  const content = managesPodLevel ? readPodLevel(file) : readWithoutPods(file);
  if (content.policyName !== policyName)
    throw new SystemError(
      `[memorymanager] configured policy ${goQuote(policyName)} differs from state checkpoint policy ${goQuote(content.policyName)}`,
    );
  return {
    machine: toMachine(content.machineState),
    containers: new Map(
      [...(content.entries ?? [])].map(([pod, containers]) => [
        pod,
        new Map([...(containers ?? [])].map(([name, own]) => [name, toBlocks(own)])),
      ]),
    ),
    pods: new Map(
      [...(content.podEntries ?? [])].map(([pod, own]) => [pod, {memoryBlocks: toBlocks(own.memoryBlocks)}]),
    ),
  };
}

const EMPTY = {policyName: '', machineState: new Map(), entries: new Map(), checksum: 0};

/** Reads version 2, or version 1 if it is not one. */
function readPodLevel(file: string): PodLevelCheckpoint {
  const content = readGoJson(podLevelType, file, {...EMPTY, podEntries: new Map()});
  return hasRightChecksum(podLevelType, content) ? content : readWithoutPods(file);
}

function readWithoutPods(file: string): PodLevelCheckpoint {
  const content = readGoJson(checkpointType, file, EMPTY);
  if (content.checksum !== 0 && !hasRightChecksum(checkpointType, content)) throw corruptCheckpoint();
  return {...content, podEntries: new Map()};
}

function toMachine(machineState: Checkpoint['machineState']): MachineMemory {
  return new Map(
    [...(machineState ?? [])].map(([node, memory]): [number, NumaMemory] => [
      node,
      {
        numberOfAssignments: memory?.numberOfAssignments ?? 0,
        memoryMap: new Map(
          [...(memory?.memoryMap ?? [])].flatMap(([type, table]) =>
            table === undefined ? [] : [[type, table]],
          ),
        ),
        cells: memory?.cells ?? [],
      },
    ]),
  );
}

function toBlocks(own: ValueOf<typeof blocks>): readonly MemoryBlock[] {
  return (own ?? []).map((block) => ({...block, numaAffinity: block.numaAffinity ?? []}));
}
