import type {FileUsage} from '../../../base/fs/file-usage.js';
import type {EvictionSignal} from './eviction-settings.js';

/** Available amount and capacity of a resource, in bytes, inodes or processes. */
export interface SignalObservation {
  readonly available: bigint;
  readonly capacity: bigint;
}

/** Observed resources; a resource that cannot be observed is absent. */
export type SignalObservations = ReadonlyMap<EvictionSignal, SignalObservation>;

/** Placement of the filesystems of the node. */
export interface FilesystemLayout {
  /** True if images are not on the filesystem of the root directory (HasDedicatedImageFs). */
  readonly dedicatedImageFs: boolean;
  /** True if the writable layers of containers are not on the filesystem of images (HasDedicatedContainerFs). */
  readonly splitContainerFs: boolean;
}

/** Observed resources of a node, and where its filesystems are. */
export interface NodeSignals {
  readonly observations: SignalObservations;
  readonly layout: FilesystemLayout;
}

/** Measured usage of a container; values that the runtime does not report are undefined. */
export interface MeasuredContainer {
  readonly name: string;
  readonly memoryBytes: bigint | undefined;
  /** Usage of the writable layer. */
  readonly layer: FileUsage | undefined;
  readonly logs: FileUsage;
}

/** Measured usage of a pod, by which pods are ranked for eviction. */
export interface MeasuredPod {
  /** Working set in bytes. */
  readonly memoryBytes: bigint;
  readonly processes: bigint;
  /** Containers with stats, in the order of the pod. */
  readonly containers: readonly MeasuredContainer[];
  /** Usage of the volumes on the filesystem of the node. */
  readonly volumes: FileUsage;
}
