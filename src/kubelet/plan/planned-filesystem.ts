import type {Pod} from '../../api/v1.js';
import {podDir, type NodeFacts} from '../container/node.js';
import type {
  ContainerFiles,
  ContainerInstance,
  MountedVolumes,
  PodFilesystem,
} from '../container/pod-filesystem.js';
import {podRef} from '../container/pod-ref.js';
import {needsHostsFile, nextLogAttempt} from '../pod/pod-files.js';
import {plannedVolumes} from '../volumes/volume-manager.js';

/** Says where a sync would put things, and puts nothing there. */
export class PlannedFilesystem implements PodFilesystem {
  readonly #node: NodeFacts;

  constructor(node: NodeFacts) {
    this.#node = node;
  }

  async makePodDirs(): Promise<void> {
    // A plan makes nothing.
  }

  async mountVolumes(pod: Pod): Promise<MountedVolumes> {
    return plannedVolumes(pod, this.#node);
  }

  async makeLogDirectory(): Promise<void> {
    // A plan makes nothing.
  }

  async prepareContainer(instance: ContainerInstance): Promise<ContainerFiles> {
    const {pod, container} = instance;
    const dir = podDir(this.#node, podRef(pod).uid);
    const hosts = needsHostsFile(instance) ? `${dir}/etc-hosts` : undefined;
    return {hostsPath: hosts, terminationLogPath: `${dir}/containers/${container.name}/<random>`};
  }

  async nextLogAttempt(pod: Pod, containerName: string): Promise<number> {
    return await nextLogAttempt(this.#node, pod, containerName);
  }

  async removeContainerLogs(): Promise<void> {
    // A plan removes nothing.
  }

  async removePod(): Promise<void> {
    // A plan removes nothing.
  }
}
