import type {Container, Pod} from '../../api/v1.js';

/** Where a container's files are that the runtime mounts beside its volumes. */
export interface ContainerFiles {
  /** The pod's hosts file; absent when the container mounts its own /etc/hosts or has no address yet. */
  readonly hostsPath: string | undefined;
  readonly terminationLogPath: string;
}

/** A mounted volume, ready for containers. */
export interface MountedVolume {
  readonly hostPath: string;
  /** The volume itself can only be read, whatever the mount says. */
  readonly readOnly: boolean;
}

/** The volumes of a pod by name. */
export type MountedVolumes = ReadonlyMap<string, MountedVolume>;

/** One instance of a container. */
export interface ContainerInstance {
  readonly pod: Pod;
  readonly container: Container;
  readonly podIps: readonly string[];
}

/**
 * All that a sync does to the node's file system. `kcri plan` has an implementation that touches nothing.
 * Methods reject with SystemError.
 */
export interface PodFilesystem {
  /** Makes the pod's data directories; idempotent. */
  makePodDirs(pod: Pod): Promise<void>;
  /** Mounts the pod's volumes; idempotent. */
  mountVolumes(pod: Pod, signal: AbortSignal): Promise<MountedVolumes>;
  makeLogDirectory(pod: Pod): Promise<void>;
  /** Writes the hosts file and a new termination log, and makes the container's log directory. */
  prepareContainer(instance: ContainerInstance): Promise<ContainerFiles>;
  /** The attempt after the newest log file's, 0 without one. */
  nextLogAttempt(pod: Pod, containerName: string): Promise<number>;
  /** Removes the log files of one container instance. */
  removeContainerLogs(pod: Pod, containerName: string, attempt: number): Promise<void>;
  /** Unmounts the pod's volumes and removes its directories and logs. */
  removePod(pod: Pod): Promise<void>;
}
