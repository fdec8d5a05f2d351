import type {Pod} from '../../api/v1.js';
import type {Clock} from '../../base/clock.js';
import type {ApiObjects} from '../container/api-objects.js';
import {podDir, type NodeFacts} from '../container/node.js';
import type {
  ContainerFiles,
  ContainerInstance,
  EnvFile,
  IdMapping,
  MountedVolumes,
  PlannedFile,
  PodFilesystem,
} from '../container/pod-filesystem.js';
import {podRef} from '../container/pod-ref.js';
import {needsHostsFile, nextLogAttempt} from '../pod/pod-files.js';
import {plannedUserNamespace} from '../pod/user-namespaces.js';
import {volumeHost} from '../volume-host.js';
import {subPathTargets} from '../volumes/sub-path.js';
import {planVolumes} from '../volumes/volume-manager.js';

/** What a plan of the file system is made with. */
export interface PlannedFilesystemOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** Called for every file of a volume that would be written; more than once when there are several passes. */
  readonly onFile: (file: PlannedFile) => void;
  /** Nothing of any pod is on the node: no logs are looked for. */
  readonly offline?: boolean | undefined;
}

/** Says where a sync would put things, and puts nothing there. */
export class PlannedFilesystem implements PodFilesystem {
  readonly #node: NodeFacts;
  readonly #options: PlannedFilesystemOptions;

  constructor(node: NodeFacts, options: PlannedFilesystemOptions) {
    this.#node = node;
    this.#options = options;
  }

  async makePodCgroup(): Promise<void> {
    // A plan makes nothing.
  }

  async readPodCgroup(): Promise<undefined> {
    // What the pod was last given tells.
  }

  async setPodCgroup(): Promise<void> {
    // A plan sets nothing.
  }

  async makePodDirs(): Promise<void> {
    // A plan makes nothing.
  }

  async userNamespace(pod: Pod): Promise<IdMapping> {
    return await plannedUserNamespace(this.#node, pod);
  }

  async mountVolumes(pod: Pod, objects: ApiObjects): Promise<MountedVolumes> {
    const {volumes, files} = await planVolumes(pod, volumeHost(this.#node, objects, this.#options.clock));
    for (const file of files) this.#options.onFile(file);
    return volumes;
  }

  async exceededVolume(): Promise<undefined> {
    // What is planned has not been filled yet.
  }

  async makeLogDirectory(): Promise<void> {
    // A plan makes nothing.
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

  async nextLogAttempt(pod: Pod, containerName: string): Promise<number> {
    return this.#options.offline === true ? 0 : await nextLogAttempt(this.#node, pod, containerName);
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
