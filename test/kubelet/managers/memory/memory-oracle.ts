import type {ResourceList} from '../../../../src/api/types/v1-meta.js';
import type {Pod} from '../../../../src/api/types/v1-pod.js';
import {compare} from '../../../../src/base/compare.js';
import {SILENT_LOGGER} from '../../../../src/base/logger.js';
import type {
  TopologyHint,
  TopologyHintProvider,
  TopologyHints,
} from '../../../../src/kubelet/contract/node-manager.js';
import type {MemoryReservation} from '../../../../src/kubelet/contract/resources/memory-settings.js';
import {MemoryManager} from '../../../../src/kubelet/managers/memory/memory-manager.js';
import type {MemoryBlock, MemoryState} from '../../../../src/kubelet/managers/memory/memory-state.js';
import type {CheckpointAccess} from '../../../../src/kubelet/resources/checkpoint/state-file.js';
import {shownHint, type OracleHint} from '../topology/oracle-hints.js';

/** Configuration of a memory manager and a topology manager in the oracles. */
export interface OracleConfig {
  readonly memoryManagerPolicy: string;
  readonly numaNodes: readonly {
    readonly memory: number;
    readonly hugepages?: Readonly<Record<string, number>> | null;
  }[];
  readonly numaNodeIDs?: readonly number[];
  readonly reservedMemory: readonly MemoryReservation[] | null;
  readonly nodeAllocatableReservation: ResourceList;
  readonly topologyManagerPolicy: string;
  readonly topologyManagerScope: string;
}

/** State of a memory manager in the oracles. */
export interface OracleState {
  readonly machineState?: Readonly<Record<string, unknown>> | null;
  readonly entries?: Readonly<Record<string, Readonly<Record<string, readonly MemoryBlock[] | null>>>> | null;
  readonly podEntries?: Readonly<Record<string, {readonly memoryBlocks: readonly MemoryBlock[]}>> | null;
}

/** Starts the memory manager of a configuration with a state file. */
export async function startMemoryManager(
  config: OracleConfig,
  file: CheckpointAccess,
  {
    managesPodLevel = false,
    active = [],
  }: {readonly managesPodLevel?: boolean; readonly active?: readonly Pod[]} = {},
): Promise<MemoryManager> {
  return MemoryManager.start(
    {
      settings: {
        policy: config.memoryManagerPolicy,
        reservedMemory: config.reservedMemory ?? [],
        managesPodLevel,
      },
      numaNodes: config.numaNodes.map(({memory, hugepages}, index) => ({
        id: config.numaNodeIDs?.[index] ?? index,
        memoryBytes: BigInt(memory),
        hugePages: Object.entries(hugepages ?? {}).map(([kib, pages]) => ({pageSizeKib: Number(kib), pages})),
      })),
      nodeReserved: config.nodeAllocatableReservation,
      file,
    },
    {activePods: () => active, allSourcesReady: () => true, logger: SILENT_LOGGER},
  );
}

/** Returns the state as in the oracles. */
export function shownState(state: MemoryState | undefined): OracleState {
  const {machine = new Map(), containers = new Map(), pods = new Map()} = state ?? {};
  return plain({machineState: machine, entries: containers, podEntries: pods}) as OracleState;
}

/** Returns the state of an oracle with nothing left out. */
export function expectedState(state: OracleState | undefined): OracleState {
  return {
    machineState: state?.machineState ?? {},
    entries: Object.fromEntries(
      Object.entries(state?.entries ?? {}).map(([uid, containers]) => [
        uid,
        Object.fromEntries(Object.entries(containers).map(([name, blocks]) => [name, blocks ?? []])),
      ]),
    ),
    podEntries: state?.podEntries ?? {},
  };
}

function plain(value: unknown): unknown {
  if (value instanceof Map)
    return Object.fromEntries([...value].map(([key, each]) => [String(key), plain(each)]));
  if (Array.isArray(value)) return sortBlocks(value.map(plain));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]));
  return value;
}

function sortBlocks(values: readonly unknown[]): readonly unknown[] {
  const typeOf = (value: unknown): string =>
    typeof value === 'object' && value !== null && 'type' in value ? String(value.type) : '';
  return values.toSorted((a, b) => compare(typeOf(a), typeOf(b)));
}

/** Answer of the memory manager to the topology manager. */
export interface OracleHints {
  readonly container?: string;
  readonly pod?: string;
  readonly hints: Readonly<Record<string, readonly OracleHint[] | null>> | null;
}

/** A provider, and what passes between it and the topology manager. */
export function observe(provider: Required<TopologyHintProvider>): {
  readonly provider: TopologyHintProvider;
  readonly hints: OracleHints[];
  readonly affinity: Map<string, OracleHint>;
} {
  const hints: OracleHints[] = [];
  const affinity = new Map<string, OracleHint>();
  const note = (of: Omit<OracleHints, 'hints'>, given: TopologyHints): TopologyHints => {
    const shown = [...given].map(([type, list]) => [type, list?.map(shownHint) ?? null]);
    hints.push({...of, hints: Object.fromEntries(shown) as OracleHints['hints']});
    return given;
  };
  return {
    hints,
    affinity,
    provider: {
      podHints: (pod) => note({pod: pod.metadata.name ?? ''}, provider.podHints(pod)),
      containerHints: (pod, container) =>
        note({container: container.name}, provider.containerHints(pod, container)),
      allocate: async (pod, container, hint: TopologyHint) => {
        affinity.set(container.name, shownHint(hint));
        await provider.allocate(pod, container, hint);
      },
      allocatePod: async (pod, hint) => {
        for (const {name} of [...(pod.spec.initContainers ?? []), ...pod.spec.containers])
          affinity.set(name, shownHint(hint));
        await provider.allocatePod(pod, hint);
      },
    },
  };
}

/** A state file in memory. */
export class MemoryFile implements CheckpointAccess {
  readonly path = '<DIR>/memory_manager_state';
  text: string | undefined;

  readonly read = async (): Promise<string | undefined> => this.text;

  readonly write = async (text: string): Promise<void> => {
    this.text = text;
  };
}
