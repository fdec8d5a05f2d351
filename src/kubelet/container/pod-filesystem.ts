import type {Container, MountPropagationMode, Pod} from '../../api/v1.js';
import type {Quantity} from '../../api/v1-meta.js';
import type {ApiObjects} from './api-objects.js';
import type {CgroupLimits, PodCgroup} from './cgroup-limits.js';

/** Where a container's files are that the runtime mounts beside its volumes. */
export interface ContainerFiles {
  /** The pod's hosts file; absent when the container mounts its own /etc/hosts or has no address yet. */
  readonly hostsPath: string | undefined;
  readonly terminationLogPath: string;
  /** Where the parts of volumes are that the container mounts, by their place among its volumeMounts. */
  readonly subPathTargets: ReadonlyMap<number, string>;
}

/** A mounted volume, ready for containers. */
export interface MountedVolume {
  readonly hostPath: string;
  /** The volume itself can only be read, whatever the mount says. */
  readonly readOnly: boolean;
}

/** The volumes of a pod by name. */
export type MountedVolumes = ReadonlyMap<string, MountedVolume>;

/** A file that a sync would write into a volume, on the node. What it holds is nobody's business. */
export interface PlannedFile {
  readonly path: string;
  /** Permission bits. */
  readonly mode: number;
}

/** Ids of a user namespace and those that they are on the node: `length` of them, users and groups alike. */
export interface IdMapping {
  readonly hostId: number;
  readonly containerId: number;
  readonly length: number;
}

/** A part of a volume that a container mounts. */
export interface SubPathMount {
  /** Its place among the container's volumeMounts. */
  readonly index: number;
  readonly volumeName: string;
  readonly volumePath: string;
  /** Below the volume's root, without `..`; variables are replaced. */
  readonly path: string;
  readonly propagation: MountPropagationMode;
}

/** A file of variables that a container has put into a volume. */
export type EnvFile =
  | {readonly kind: 'text'; readonly path: string; readonly content: string}
  | {readonly kind: 'unreadable'; readonly reason: string}
  /** In a plan no container has written it yet. */
  | {readonly kind: 'planned'};

/** A volume that takes more than its sizeLimit. */
export interface ExceededVolume {
  readonly name: string;
  /** In canonical form. */
  readonly sizeLimit: Quantity;
}

/** One instance of a container. */
export interface ContainerInstance {
  readonly pod: Pod;
  readonly container: Container;
  readonly podIps: readonly string[];
  readonly subPaths: readonly SubPathMount[];
}

/**
 * All that a sync does to the node's file system. `kcri plan` has an implementation that touches nothing.
 * Methods reject with SystemError.
 */
export interface PodFilesystem {
  /** Makes the cgroup that all of the pod is in, with its limits; idempotent. */
  makePodCgroup(pod: Pod): Promise<void>;
  /** What the pod's cgroup is limited to; undefined when there is none, or it isn't kcri's to set. */
  readPodCgroup(pod: Pod): Promise<PodCgroup | undefined>;
  /** Sets these limits of the pod's cgroup, where it is kcri's to set. */
  setPodCgroup(pod: Pod, limits: Partial<CgroupLimits>): Promise<void>;
  /** Makes the pod's data directories; idempotent. */
  makePodDirs(pod: Pod): Promise<void>;
  /** The ids that are the pod's own until removePod; the same ones each time. For a pod with hostUsers: false. */
  userNamespace(pod: Pod): Promise<IdMapping>;
  /** Mounts the pod's volumes, and brings what is written into them up to date; idempotent. MountError tells which fail. */
  mountVolumes(pod: Pod, objects: ApiObjects, signal: AbortSignal): Promise<MountedVolumes>;
  /** The first volume that takes more of the disk than the Pod lets it. */
  exceededVolume(pod: Pod): Promise<ExceededVolume | undefined>;
  makeLogDirectory(pod: Pod): Promise<void>;
  /** Reads a file of variables below a volume's directory. What is wrong with it is part of the answer. */
  readEnvFile(volumePath: string, path: string): Promise<EnvFile>;
  /** Writes the hosts file and a new termination log, and makes the container's log directory. */
  prepareContainer(instance: ContainerInstance): Promise<ContainerFiles>;
  /** The attempt after the newest log file's, 0 without one. */
  nextLogAttempt(pod: Pod, containerName: string): Promise<number>;
  /** Removes the log files of one container instance. */
  removeContainerLogs(pod: Pod, containerName: string, attempt: number): Promise<void>;
  /** Unmounts and removes the pod's volumes; its other directories stay. */
  removeVolumes(pod: Pod): Promise<void>;
  /** Unmounts the pod's volumes and removes its directories and logs. */
  removePod(pod: Pod): Promise<void>;
}
