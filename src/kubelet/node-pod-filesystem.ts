import type {Pod} from '../api/v1.js';
import type {Clock, RandomSource} from '../base/clock.js';
import type {ApiObjects} from './container/api-objects.js';
import type {CgroupLimits, PodCgroup} from './container/cgroup-limits.js';
import {cgroupGround, type CgroupGround, type NodeFacts} from './container/node.js';
import type {
  ContainerFiles,
  ContainerInstance,
  ExceededVolume,
  EnvFile,
  IdMapping,
  MountedVolumes,
  PodFilesystem,
} from './container/pod-filesystem.js';
import {podRef} from './container/pod-ref.js';
import {podCgroupLimits} from './kuberuntime/pod-cgroup-limits.js';
import {podCgroupParent} from './kuberuntime/pod-cgroup.js';
import {podHostname} from './network/hostname.js';
import {hostNetworkHostsFileContent, hostsFileContent} from './pod/hosts-file.js';
import {
  makeContainerLogDirectory,
  makeLogDirectory,
  makePodDirs,
  makeTerminationLog,
  needsHostsFile,
  nextLogAttempt,
  removeContainerLogs,
  removePodLogs,
  writeHostsFile,
} from './pod/pod-files.js';
import {allocateUserNamespace} from './pod/user-namespaces.js';
import {readEnvFile} from './references/read-env-file.js';
import {makePodCgroup, readPodCgroup, setPodCgroup} from './resources/pod-cgroup.js';
import {volumeHost} from './volume-host.js';
import {removePodDir, removePodVolumes} from './volumes/remove-pod-dir.js';
import {shareVolumes} from './volumes/share-volumes.js';
import {exceededVolume} from './volumes/size-limit.js';
import {bindSubPaths} from './volumes/sub-path.js';
import {mountVolumes} from './volumes/volume-manager.js';

/** The node's own file system: everything of a pod is below the root directory and the pod log directory. */
export class NodePodFilesystem implements PodFilesystem {
  readonly #node: NodeFacts;
  readonly #random: RandomSource;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(node: NodeFacts, random: RandomSource, clock: Pick<Clock, 'now'>) {
    this.#node = node;
    this.#random = random;
    this.#clock = clock;
  }

  async makePodCgroup(pod: Pod): Promise<void> {
    const ground = this.#ownCgroups();
    if (ground === undefined) return;
    await makePodCgroup(ground, podCgroupParent(pod, this.#node.cgroup), podCgroupLimits(pod, this.#node));
  }

  async readPodCgroup(pod: Pod): Promise<PodCgroup | undefined> {
    const ground = this.#ownCgroups();
    return ground && (await readPodCgroup(ground, podCgroupParent(pod, this.#node.cgroup)));
  }

  async setPodCgroup(pod: Pod, limits: Partial<CgroupLimits>): Promise<void> {
    const ground = this.#ownCgroups();
    if (ground !== undefined) await setPodCgroup(ground, podCgroupParent(pod, this.#node.cgroup), limits);
  }

  /** systemd makes the slice when the runtime asks it for the sandbox's scope. */
  #ownCgroups(): CgroupGround | undefined {
    return this.#node.cgroup.driver === 'systemd' ? undefined : cgroupGround(this.#node);
  }

  async makePodDirs(pod: Pod): Promise<void> {
    await makePodDirs(this.#node, pod);
    await shareVolumes(this.#node, pod);
  }

  async userNamespace(pod: Pod): Promise<IdMapping> {
    return await allocateUserNamespace(this.#node, pod, this.#random);
  }

  async mountVolumes(pod: Pod, objects: ApiObjects, signal: AbortSignal): Promise<MountedVolumes> {
    return await mountVolumes(pod, volumeHost(this.#node, objects, this.#clock), signal);
  }

  async exceededVolume(pod: Pod): Promise<ExceededVolume | undefined> {
    return await exceededVolume(this.#node, pod);
  }

  async makeLogDirectory(pod: Pod): Promise<void> {
    await makeLogDirectory(this.#node, pod);
  }

  async readEnvFile(volumePath: string, path: string): Promise<EnvFile> {
    return await readEnvFile(volumePath, path);
  }

  async prepareContainer(instance: ContainerInstance): Promise<ContainerFiles> {
    const {pod, container, subPaths} = instance;
    await makeContainerLogDirectory(this.#node, pod, container.name);
    const ref = {podUid: podRef(pod).uid, containerName: container.name};
    const subPathTargets = await bindSubPaths(this.#node, ref, subPaths);
    const hostsPath = needsHostsFile(instance)
      ? await writeHostsFile(this.#node, pod, this.#hostsFile(instance))
      : undefined;
    const terminationLogPath = await makeTerminationLog(this.#node, pod, container.name, this.#random);
    return {hostsPath, terminationLogPath, subPathTargets};
  }

  async nextLogAttempt(pod: Pod, containerName: string): Promise<number> {
    return await nextLogAttempt(this.#node, pod, containerName);
  }

  async removeContainerLogs(pod: Pod, containerName: string, attempt: number): Promise<void> {
    await removeContainerLogs(this.#node, pod, containerName, attempt);
  }

  async removeVolumes(pod: Pod): Promise<void> {
    await removePodVolumes(this.#node, podRef(pod).uid);
  }

  /** The directory first: while it can't be removed, the logs may still tell why. */
  async removePod(pod: Pod): Promise<void> {
    await removePodDir(this.#node, podRef(pod).uid);
    await removePodLogs(this.#node, pod);
  }

  #hostsFile({pod, podIps}: ContainerInstance): string {
    const {hostNetwork = false, hostAliases: aliases = []} = pod.spec;
    return hostNetwork
      ? hostNetworkHostsFileContent(this.#node.hostsFile, aliases)
      : hostsFileContent({podIps, ...podHostname(pod, this.#node), aliases});
  }
}
