import {join} from 'node:path';
import type {ResourceList} from '../../../api/types/v1-meta.js';
import type {Container, Pod} from '../../../api/types/v1-pod.js';
import {messageOf, rethrowUnexpected, SystemError} from '../../../base/errors.js';
import type {KubeletMetrics} from '../../contract/kubelet-metrics.js';
import type {
  ContainerRequest,
  ContainerResources,
  NodeManagerServices,
  TopologyHintProvider,
} from '../../contract/node-manager.js';
import type {MemoryManagerSettings} from '../../contract/resources/memory-settings.js';
import {bitSet} from '../../resources/bit-set.js';
import {checkpointFile, StateFile, type CheckpointAccess} from '../../resources/checkpoint/state-file.js';
import {formatCpuSet} from '../../resources/cpu-set.js';
import {checkState, unusedMemory, type NumaCapacity} from './machine-memory.js';
import {formatMemoryCheckpoint, parseMemoryCheckpoint} from './memory-checkpoint.js';
import {blocksOf, type MachineMemory, type MemoryBlock, type MemoryState} from './memory-state.js';
import {systemReservedMemory} from './reserved-memory.js';
import {StaticMemory} from './static-memory.js';

/** Memory of a machine. */
export interface MemoryCapacity {
  readonly numaNodes: readonly NumaCapacity[];
  /** All that the node reserves (GetNodeAllocatableReservation). */
  readonly nodeReserved: ResourceList;
}

/** What MemoryManager works with. */
export interface MemoryManagerOptions extends MemoryCapacity {
  readonly settings: MemoryManagerSettings;
  readonly file: CheckpointAccess;
}

/** Returns the file in which the memory manager of a root directory keeps its state. */
export function memoryStateFile(
  rootDir: string,
  services: Pick<NodeManagerServices, 'isPlan'>,
): CheckpointAccess {
  return checkpointFile(join(rootDir, 'memory_manager_state'), services);
}

interface Services extends Pick<NodeManagerServices, 'activePods' | 'allSourcesReady' | 'logger'> {
  readonly metrics: Pick<KubeletMetrics, 'memoryPinned'>;
}

/** State with the policy None. */
const NOTHING: MemoryState = {machine: new Map(), containers: new Map(), pods: new Map()};

/** Gives containers memory of NUMA nodes, and keeps in a file what it gave (memorymanager.Manager). */
export class MemoryManager {
  readonly #services: Services;
  readonly #file: StateFile<MemoryState>;
  /** Undefined with the policy None. */
  readonly #memory: StaticMemory | undefined;

  private constructor(services: Services, file: StateFile<MemoryState>, memory: StaticMemory | undefined) {
    this.#services = services;
    this.#file = file;
    this.#memory = memory;
  }

  /**
   * Starts the manager with what the file has. Rejects with SystemError, with the kubelet's text, if the configuration does
   * not fit the machine, or the file neither of both.
   */
  static async start(options: MemoryManagerOptions, services: Services): Promise<MemoryManager> {
    const {policy, managesPodLevel} = options.settings;
    const unused = createUnused(options);
    const format = {
      manager: 'memory manager',
      format: (state: MemoryState) => formatMemoryCheckpoint(policy, state, managesPodLevel),
      parse: (text: string) => parseMemoryCheckpoint(text, policy, managesPodLevel),
    };
    const file = new StateFile(options.file, format, services.logger);
    const state = await restore(file, (stored) =>
      unused === undefined ? (stored ?? NOTHING) : validState(stored, unused, managesPodLevel),
    );
    await file.save(state);
    return new MemoryManager(services, file, unused && new StaticMemory(state, managesPodLevel));
  }

  /** Hints, and allocation by the topology manager's decision. */
  readonly topology: Required<TopologyHintProvider> = {
    podHints: (pod) => this.#withoutStale()?.podHints(pod) ?? new Map(),
    containerHints: (pod, container) => this.#withoutStale()?.containerHints(pod, container) ?? new Map(),
    allocate: async (pod, container, affinity) =>
      this.#change(pod, (memory) => {
        memory.allocate(pod, container, affinity);
      }),
    allocatePod: async (pod, affinity) =>
      this.#change(pod, (memory) => {
        memory.allocatePod(pod, affinity);
      }),
  };

  /** Returns the NUMA nodes from which a container may take memory, if it was given some (GetMemoryNUMANodes). */
  resources({pod, container}: Pick<ContainerRequest, 'pod' | 'container'>): ContainerResources {
    const nodes = this.blocksOf(pod, container.name).flatMap(({numaAffinity}) => numaAffinity);
    return nodes.length === 0 ? {} : {cpusetMems: formatCpuSet(bitSet(nodes))};
  }

  /** Returns the memory that a container was given. */
  blocksOf({metadata}: Pick<Pod, 'metadata'>, container: string): readonly MemoryBlock[] {
    return (this.#memory && blocksOf(this.#memory.state, metadata.uid ?? '', container)) ?? [];
  }

  /** Returns the memory of each NUMA node that containers can get; none without a policy (GetAllocatableMemory). */
  allocatable(): readonly MemoryBlock[] {
    return [...(this.#memory?.state.machine ?? [])].flatMap(([node, {memoryMap}]) =>
      [...memoryMap].flatMap(([type, {allocatable}]) =>
        allocatable === 0 ? [] : [{numaAffinity: [node], type, size: allocatable}],
      ),
    );
  }

  /** Releases the memory of init containers that have ended before this container. */
  async containerCreated(pod: Pod, container: Container): Promise<void> {
    if (this.#memory === undefined) return;
    this.#memory.started(pod, container);
    await this.#file.save(this.#memory.state);
  }

  /** What containers have; undefined with the policy None. */
  get state(): MemoryState | undefined {
    return this.#memory?.state;
  }

  /** Allocates, and resolves when that is stored. */
  async #change(pod: Pod, allocate: (memory: StaticMemory) => void): Promise<void> {
    const memory = this.#withoutStale();
    if (memory === undefined) return;
    let isFailed = true;
    try {
      allocate(memory);
      isFailed = false;
    } finally {
      if (memory.gives(pod)) this.#services.metrics.memoryPinned(isFailed);
      await this.#file.save(memory.state);
    }
  }

  /** Releases the memory of pods that are gone, once all are known (removeStaleState). */
  #withoutStale(): StaticMemory | undefined {
    const {allSourcesReady, activePods} = this.#services;
    if (this.#memory !== undefined && allSourcesReady()) {
      this.#memory.removeStale(activePods());
      this.#file.startToSave(this.#memory.state);
    }
    return this.#memory;
  }
}

/**
 * Returns the memory of the machine; undefined with the policy None. Throws SystemError with the kubelet's text if the settings
 * are wrong or do not fit the machine (memorymanager.NewManager).
 */
export function createUnused({
  settings,
  numaNodes,
  nodeReserved,
}: Omit<MemoryManagerOptions, 'file'>): MachineMemory | undefined {
  const {policy, reservedMemory} = settings;
  if (policy === 'None') return undefined;
  if (policy !== 'Static')
    throw new SystemError(
      policy === 'BestEffort'
        ? `policy "${policy}" is not available for platform "linux"`
        : `unknown policy: "${policy}"`,
      {hint: 'set memoryManagerPolicy to None or Static'},
    );
  const nodes = numaNodes.map(({id}) => id);
  return unusedMemory(numaNodes, systemReservedMemory(nodes, nodeReserved, reservedMemory));
}

/** Loads and checks the stored state. Rejects with SystemError with the kubelet's text (containerManagerImpl Start). */
async function restore(
  file: StateFile<MemoryState>,
  check: (stored: MemoryState | undefined) => MemoryState,
): Promise<MemoryState> {
  try {
    return check(await file.load());
  } catch (cause) {
    rethrowUnexpected(cause);
    throw new SystemError(`start memory manager error: ${messageOf(cause)}`, {
      cause,
      hint: `drain the node and remove ${file.path}`,
    });
  }
}

/** Returns the stored state, or a new one. Throws SystemError if it does not fit the machine. */
function validState(
  stored: MemoryState | undefined,
  unused: MachineMemory,
  managesPodLevel: boolean,
): MemoryState {
  if (stored !== undefined && stored.machine.size > 0) {
    checkState(stored, unused, managesPodLevel);
    return stored;
  }
  if ((stored?.containers.size ?? 0) > 0)
    throw new SystemError('[memorymanager] machine state can not be empty when it has memory assignments');
  return {...NOTHING, machine: unused};
}
