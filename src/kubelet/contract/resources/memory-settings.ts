import type {ResourceList} from '../../../api/types/v1-meta.js';

/** Memory that is kept for the system on a NUMA node (an item of reservedMemory). */
export interface MemoryReservation {
  readonly numaNode: number;
  readonly limits: ResourceList;
}

/** Settings of the memory manager (memoryManagerPolicy and reservedMemory of the KubeletConfiguration). */
export interface MemoryManagerSettings {
  /** `None` or `Static`. */
  readonly policy: string;
  readonly reservedMemory: readonly MemoryReservation[];
  /** Feature gate PodLevelResourceManagers, off by default: pods with resources of their own get memory as a whole. */
  readonly managesPodLevel: boolean;
}
