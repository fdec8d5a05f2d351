import type {Container, HostAlias, MountPropagationMode, Pod} from '../../api/types/v1-pod.js';
import type {Quantity} from '../../api/types/v1-meta.js';
import type {FileUsage} from '../../base/fs/file-usage.js';
import type {SystemError} from '../../base/errors.js';
import type {ApiObjects} from './api-objects.js';
import type {EventSink} from './pod-event.js';
import type {VolumeStepSink} from './volumes/volume-history.js';
import type {RuntimeContainerStatus} from './runtime-pod-status.js';
import type {CgroupLimits, PodCgroup} from './resources/cgroup-limits.js';

/** Paths of the files that the runtime mounts into a container in addition to its volumes. */
export interface ContainerFiles {
  /** Path of the pod's hosts file; undefined when the container mounts its own /etc/hosts or the pod has no IP yet. */
  readonly hostsPath: string | undefined;
  readonly terminationLogPath: string;
  /** Host paths of subPath mounts by index in volumeMounts. */
  readonly subPathTargets: ReadonlyMap<number, string>;
}

/** A mounted volume, ready for containers. */
export interface MountedVolume {
  readonly hostPath: string;
  /** True if the volume itself is read-only, regardless of the mount. */
  readonly readOnly: boolean;
  /** True if the SELinux labels of its files must not change; false by default. */
  readonly keepsLabels?: boolean;
  /** Group that processes of the pod have because of the volume; undefined if it names none. */
  readonly groupId?: bigint | undefined;
}

/** Mounted volumes of a pod by name. */
export type MountedVolumes = ReadonlyMap<string, MountedVolume>;

/** Objects that volumes refer to, and the sinks of failures to mount volumes, of other warnings, and of what happens to them. */
export interface MountingContext {
  readonly objects: ApiObjects;
  readonly events: EventSink;
  readonly onVolume?: VolumeStepSink | undefined;
}

/** Result of mountVolumes. */
export interface MountResult {
  readonly volumes: MountedVolumes;
  /** Failures to update volumes that remain mounted with their last content. */
  readonly failures: readonly SystemError[];
  /** Time at which the first of these volumes is due again, in ms of the monotonic clock; undefined without a failure. */
  readonly retryAt: number | undefined;
  /** True if a volume is being enlarged by the controller of its driver, so that its mounts must be looked at soon. */
  readonly isExpanding?: boolean;
}

/** A file on the node that a sync would write into a volume, without its content. */
export interface PlannedFile {
  readonly path: string;
  /** Permission bits of the file. */
  readonly mode: number;
}

/** Mapping of `length` IDs of a user namespace to IDs of the node, for users and groups alike. */
export interface IdMapping {
  readonly hostId: number;
  readonly containerId: number;
  readonly length: number;
}

/** A subPath mount of a container. */
export interface SubPathMount {
  /** Index in the container's volumeMounts. */
  readonly index: number;
  readonly volumeName: string;
  readonly volumePath: string;
  /** Path below the volume's root, without `..` and with variables expanded. */
  readonly path: string;
  readonly propagation: MountPropagationMode;
}

/** A file with environment variables that a container wrote into a volume. */
export type EnvFile =
  | {readonly kind: 'text'; readonly path: string; readonly content: string}
  | {readonly kind: 'unreadable'; readonly reason: string}
  /** In a plan: no container has written the file yet. */
  | {readonly kind: 'planned'};

/** Space and inodes that the files of a pod use on the node. */
export interface PodStorageUsage {
  /** Logs by the name of the container. */
  readonly logs: ReadonlyMap<string, FileUsage>;
  /** emptyDir volumes on disk. */
  readonly volumes: FileUsage;
  readonly hostsFile: FileUsage;
}

/** A volume that exceeds its sizeLimit. */
export interface ExceededVolume {
  readonly name: string;
  /** Limit in canonical form. */
  readonly sizeLimit: Quantity;
}

/** A container instance to prepare files for. */
export interface ContainerInstance {
  readonly pod: Pod;
  readonly container: Container;
  readonly podIps: readonly string[];
  readonly subPaths: readonly SubPathMount[];
  /** Entries of Services for the pod's hosts file; none by default. */
  readonly serviceHosts?: readonly HostAlias[] | undefined;
}

/** A container instance that has been created. */
export type CreatedContainer = Pick<RuntimeContainerStatus, 'id' | 'name' | 'restartCount'>;

/** Content of a pod's hosts file that depends on other pods. */
export type PodHosts = Pick<ContainerInstance, 'pod' | 'podIps' | 'serviceHosts'>;

/**
 * Filesystem operations of a sync on the node. `kcri plan` has an implementation without side effects.
 * Methods reject with SystemError.
 */
export interface PodFilesystem {
  /** Creates the pod's cgroup with its limits; idempotent. */
  makePodCgroup(pod: Pod): Promise<void>;
  /** Resolves with the limits of the pod's cgroup; undefined without a cgroup or if kcri does not manage it. */
  readPodCgroup(pod: Pod): Promise<PodCgroup | undefined>;
  /** Sets limits of the pod's cgroup if kcri manages it. */
  setPodCgroup(pod: Pod, limits: Partial<CgroupLimits>): Promise<void>;
  /**
   * Resolves with true if the kernel shows that one of these containers and sandboxes of the pod, which the runtime reports
   * as running, has ended; false if that is unknown.
   */
  hasEndedProcesses(pod: Pod, ids: readonly string[]): Promise<boolean>;
  /** Creates the pod's data directories; idempotent. */
  makePodDirs(pod: Pod): Promise<void>;
  /** Resolves with the ID mapping reserved for a pod with hostUsers: false; it does not change until removePod. */
  userNamespace(pod: Pod): Promise<IdMapping>;
  /**
   * Mounts the pod's volumes and updates their content; idempotent. Each failure is an event. Rejects with MountError, which
   * lists the failed volumes, if one of them was not mounted before by this object.
   */
  mountVolumes(pod: Pod, context: MountingContext, signal: AbortSignal): Promise<MountResult>;
  /** Resolves with the first volume that exceeds its size limit; undefined when none does. */
  exceededVolume(pod: Pod): Promise<ExceededVolume | undefined>;
  /** Resolves with the space that the pod uses on the node, besides the writable layers of its containers. */
  storageUsage(pod: Pod): Promise<PodStorageUsage>;
  makeLogDirectory(pod: Pod): Promise<void>;
  /** Reads a file with environment variables below a volume's directory. Errors in the file are part of the result. */
  readEnvFile(volumePath: string, path: string): Promise<EnvFile>;
  /** Writes the hosts file, creates the container's log directory, and chooses a path for the termination log. */
  prepareContainer(instance: ContainerInstance): Promise<ContainerFiles>;
  /** Creates the termination log of a container instance whose configuration is valid. */
  createTerminationLog(path: string): Promise<void>;
  /** Updates the hosts file that containers of the pod have mounted; does nothing if there is none. */
  updateHostsFile(hosts: PodHosts): Promise<void>;
  /** Resolves with the attempt after the one of the newest log file; 0 without log files. */
  nextLogAttempt(pod: Pod, containerName: string): Promise<number>;
  /** Links the log file of a started container instance for log collectors; idempotent. */
  linkContainerLog(pod: Pod, container: CreatedContainer): Promise<void>;
  /** Removes the log files of one container instance, and the link to them. */
  removeContainerLogs(pod: Pod, container: CreatedContainer): Promise<void>;
  /** Unmounts and removes the pod's volumes; its other directories remain. Rejects with the signal's reason while it waits. */
  removeVolumes(pod: Pod, signal?: AbortSignal): Promise<void>;
  /** Unmounts the pod's volumes and removes its directories and logs. Rejects with the signal's reason while it waits. */
  removePod(pod: Pod, signal?: AbortSignal): Promise<void>;
}
