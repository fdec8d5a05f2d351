import type {Pod} from '../../api/types/v1-pod.js';
import type {Clock} from '../../base/clock.js';
import {NO_FILES} from '../../base/fs/file-usage.js';
import {podDir, type NodeFacts} from '../contract/node-facts.js';
import type {
  ContainerFiles,
  ContainerInstance,
  EnvFile,
  IdMapping,
  MountingContext,
  MountResult,
  PlannedFile,
  PodFilesystem,
  PodStorageUsage,
} from '../contract/pod-filesystem.js';
import {podRef} from '../contract/pod-ref.js';
import {needsHostsFile} from '../managers/pod-filesystem/hosts-file.js';
import {nextLogAttempt} from '../managers/pod-filesystem/pod-directories.js';
import {plannedUserNamespace} from '../managers/pod-filesystem/user-namespaces.js';
import {createVolumeHost} from '../managers/pod-filesystem/create-volume-host.js';
import {subPathTargets} from '../managers/volumes/bind-sub-paths.js';
import {planVolumes} from '../managers/volumes/volume-manager.js';

/** Options of a PlannedFilesystem. */
export interface PlannedFilesystemOptions {
  readonly clock: Clock;
  /** Called for every volume file that would be written; several times if there are several passes. */
  readonly onFile: (file: PlannedFile) => void;
  /** True to assume an empty node without logs of any pod. */
  readonly offline?: boolean | undefined;
}

/** Returns the paths that a sync would use, without creating anything. */
export class PlannedFilesystem implements PodFilesystem {
  readonly #node: NodeFacts;
  readonly #options: PlannedFilesystemOptions;

  constructor(node: NodeFacts, options: PlannedFilesystemOptions) {
    this.#node = node;
    this.#options = options;
  }

  async makePodCgroup(): Promise<void> {
    // A plan creates nothing.
  }

  async readPodCgroup(): Promise<undefined> {
    // The limits are computed from the actuated resources.
  }

  async setPodCgroup(): Promise<void> {
    // A plan changes nothing.
  }

  async hasEndedProcesses(): Promise<boolean> {
    return false; // A plan assumes what the runtime reports.
  }

  async makePodDirs(): Promise<void> {
    // A plan creates nothing.
  }

  async userNamespace(pod: Pod): Promise<IdMapping> {
    return await plannedUserNamespace(this.#node, pod);
  }

  async mountVolumes(pod: Pod, {objects}: MountingContext): Promise<MountResult> {
    const {volumes, files} = await planVolumes(
      pod,
      createVolumeHost(this.#node, objects, this.#options.clock),
    );
    for (const file of files) this.#options.onFile(file);
    return {volumes, failures: [], retryAt: undefined};
  }

  async exceededVolume(): Promise<undefined> {
    // Planned volumes are still empty.
  }

  async storageUsage(): Promise<PodStorageUsage> {
    return {logs: new Map(), volumes: NO_FILES, hostsFile: NO_FILES};
  }

  async makeLogDirectory(): Promise<void> {
    // A plan creates nothing.
  }

  async readEnvFile(): Promise<EnvFile> {
    return {kind: 'planned'};
  }

  async prepareContainer(instance: ContainerInstance): Promise<ContainerFiles> {
    const {pod, container, subPaths} = instance;
    const podUid = podRef(pod).uid;
    const dir = podDir(this.#node, podUid);
    const hosts = needsHostsFile(instance) ? `${dir}/etc-hosts` : undefined;
    return {
      hostsPath: hosts,
      terminationLogPath: `${dir}/containers/${container.name}/<random>`,
      subPathTargets: subPathTargets(this.#node, {podUid, containerName: container.name}, subPaths),
    };
  }

  async createTerminationLog(): Promise<void> {
    // A plan creates nothing.
  }

  async updateHostsFile(): Promise<void> {
    // A plan changes nothing.
  }

  async nextLogAttempt(pod: Pod, containerName: string): Promise<number> {
    return this.#options.offline === true ? 0 : await nextLogAttempt(this.#node, pod, containerName);
  }

  async linkContainerLog(): Promise<void> {
    // A plan creates nothing.
  }

  async removeContainerLogs(): Promise<void> {
    // A plan removes nothing.
  }

  async removeVolumes(): Promise<void> {
    // A plan removes nothing.
  }

  async removePod(): Promise<void> {
    // A plan removes nothing.
  }
}
