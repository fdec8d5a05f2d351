import type {Pod} from '../../../api/types/v1-pod.js';
import type {Clock, RandomSource} from '../../../base/clock.js';
import type {PodUid} from '../../../cri/index.js';
import type {CgroupLimits, PodCgroup} from '../../contract/resources/cgroup-limits.js';
import {NO_METRICS, type KubeletMetrics, type VolumeOperation} from '../../contract/kubelet-metrics.js';
import {getCgroupRoot} from '../../resources/cgroup-root.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import type {NodeManagers} from '../../contract/node-manager.js';
import type {
  ContainerFiles,
  ContainerInstance,
  CreatedContainer,
  ExceededVolume,
  PodStorageUsage,
  EnvFile,
  IdMapping,
  MountedVolume,
  MountingContext,
  MountResult,
  PodFilesystem,
  PodHosts,
} from '../../contract/pod-filesystem.js';
import {podRef} from '../../contract/pod-ref.js';
import type {CsiVolumes} from '../../contract/volumes/csi-volumes.js';
import {openContainerLogLinks, type ContainerLogLinks} from './container-log-links.js';
import {podCgroupLimits} from '../kuberuntime/config/resources/pod-cgroup-limits.js';
import {podCgroupParent} from '../../resources/pod-cgroup-parent.js';
import {podHostname} from '../network/pod-hostname.js';
import {
  hostNetworkHostsFileContent,
  hostsFileContent,
  needsHostsFile,
  updateHostsFile,
  writeHostsFile,
} from './hosts-file.js';
import {
  makeContainerLogDirectory,
  makeLogDirectory,
  makePodDirs,
  createTerminationLog,
  newTerminationLogPath,
  nextLogAttempt,
  removeContainerLogs,
  removePodLogs,
} from './pod-directories.js';
import {allocateUserNamespace} from './user-namespaces.js';
import {readEnvFile} from './read-env-file.js';
import {hasEndedProcesses} from '../cgroups/cgroup-processes.js';
import {ensurePodCgroup, readPodCgroup, setPodCgroup} from '../cgroups/pod-cgroup.js';
import {createVolumeHost} from './create-volume-host.js';
import {removePodDir, removePodVolumes} from '../volumes/remove-pod-dir.js';
import {ensureSharedVolumes} from '../volumes/mount-propagation.js';
import {measurePodStorage} from './measure-pod-storage.js';
import {findVolumeOverSizeLimit} from '../volumes/empty-dir-size-limit.js';
import {bindSubPaths} from '../volumes/bind-sub-paths.js';
import {mountVolumes} from '../volumes/volume-manager.js';
import {VolumeOperations} from '../volumes/volume-operations.js';
import {VolumeUnmounts} from '../volumes/volume-unmounts.js';
import type {VolumeHost} from '../volumes/plugins/volume-plugin.js';

/** Volumes that this process has mounted, by name, for each pod by UID (the volume manager's actual state of world). */
export type MountedPodVolumes = Map<PodUid, Map<string, MountedVolume>>;

/** Operations on the volumes of pods by UID. */
export type PodVolumeOperations = Map<PodUid, VolumeOperations>;

type NodeMetrics = Pick<KubeletMetrics, 'cgroupManaged' | 'volumeOperated' | 'volumeMounted'>;

/** State that the objects of a node share. */
interface SharedState {
  readonly mounted?: MountedPodVolumes;
  readonly operations?: PodVolumeOperations;
  readonly unmounts?: VolumeUnmounts;
  readonly metrics?: NodeMetrics;
  /** Returns the volumes of CSI drivers; none by default. */
  readonly csiVolumes?: () => CsiVolumes | undefined;
  /** Changes the limits of the cgroup of a new pod; see NodeManagers. */
  readonly podLimits?: NodeManagers['podLimits'];
}

/** PodFilesystem on the node's filesystem. All files of pods are in the root directory and the pod log directory. */
export class NodePodFilesystem implements PodFilesystem {
  readonly #node: NodeFacts;
  readonly #random: RandomSource;
  readonly #clock: Clock;
  readonly #mounted: MountedPodVolumes;
  readonly #operations: PodVolumeOperations;
  readonly #unmounts: VolumeUnmounts;
  readonly #metrics: NodeMetrics;
  readonly #podLimits: NodeManagers['podLimits'];
  readonly #csiVolumes: () => CsiVolumes | undefined;
  readonly #logLinks: ContainerLogLinks | undefined;

  constructor(
    node: NodeFacts,
    random: RandomSource,
    clock: Clock,
    {
      mounted = new Map<PodUid, Map<string, MountedVolume>>(),
      operations = new Map<PodUid, VolumeOperations>(),
      metrics = NO_METRICS,
      unmounts = new VolumeUnmounts({clock, metrics}),
      podLimits = (_pod, limits) => limits,
      csiVolumes = () => undefined,
    }: SharedState = {},
  ) {
    this.#node = node;
    this.#random = random;
    this.#clock = clock;
    this.#mounted = mounted;
    this.#operations = operations;
    this.#unmounts = unmounts;
    this.#metrics = metrics;
    this.#podLimits = podLimits;
    this.#csiVolumes = csiVolumes;
    this.#logLinks = openContainerLogLinks(node);
  }

  async makePodCgroup(pod: Pod): Promise<void> {
    const node = this.#node;
    const cgroupRoot = getCgroupRoot(node);
    if (cgroupRoot === undefined) return;
    const path = podCgroupParent(pod, node.cgroup);
    const limits = this.#podLimits(pod, podCgroupLimits(pod, node));
    await this.#timeCgroup('create', () => ensurePodCgroup(cgroupRoot, path, limits));
  }

  async readPodCgroup(pod: Pod): Promise<PodCgroup | undefined> {
    const cgroupRoot = getCgroupRoot(this.#node);
    return cgroupRoot && (await readPodCgroup(cgroupRoot, podCgroupParent(pod, this.#node.cgroup)));
  }

  async setPodCgroup(pod: Pod, limits: Partial<CgroupLimits>): Promise<void> {
    const cgroupRoot = getCgroupRoot(this.#node);
    if (cgroupRoot === undefined) return;
    await this.#timeCgroup('update', async () => {
      await setPodCgroup(cgroupRoot, podCgroupParent(pod, this.#node.cgroup), limits);
      return true;
    });
  }

  /** Observes how long a change of a cgroup takes; `change` resolves with false if there was nothing to do. */
  async #timeCgroup(operation: 'create' | 'update', change: () => Promise<boolean>): Promise<void> {
    const startedAt = this.#clock.monotonic();
    if (await change()) this.#metrics.cgroupManaged(operation, this.#clock.monotonic() - startedAt);
  }

  async hasEndedProcesses(pod: Pod, ids: readonly string[]): Promise<boolean> {
    const cgroupRoot = getCgroupRoot(this.#node);
    if (cgroupRoot === undefined) return false;
    return await hasEndedProcesses(cgroupRoot, podCgroupParent(pod, this.#node.cgroup), ids);
  }

  async makePodDirs(pod: Pod): Promise<void> {
    await makePodDirs(this.#node, pod);
    await ensureSharedVolumes(this.#node, pod);
  }

  async userNamespace(pod: Pod): Promise<IdMapping> {
    return await allocateUserNamespace(this.#node, pod, this.#random);
  }

  async mountVolumes(
    pod: Pod,
    {objects, events, onVolume}: MountingContext,
    signal: AbortSignal,
  ): Promise<MountResult> {
    const {uid} = podRef(pod);
    const host: VolumeHost = {
      ...createVolumeHost(this.#node, objects, this.#clock),
      events,
      onVolume,
      csi: this.#csiVolumes(),
      operated: (operation: VolumeOperation) => {
        this.#metrics.volumeOperated(operation);
      },
      mounted: (volume) => {
        if (!volume.isBlock) this.#metrics.volumeMounted(volume.plugin, volume.durationMs);
        this.#unmounts.mounted(uid, volume);
      },
    };
    const mounted = this.#mounted.get(uid) ?? new Map<string, MountedVolume>();
    this.#mounted.set(uid, mounted);
    const operations = this.#operations.get(uid) ?? new VolumeOperations(this.#clock);
    this.#operations.set(uid, operations);
    return await mountVolumes(pod, {...host, operations}, signal, mounted);
  }

  async exceededVolume(pod: Pod): Promise<ExceededVolume | undefined> {
    return await findVolumeOverSizeLimit(this.#node, pod);
  }

  async storageUsage(pod: Pod): Promise<PodStorageUsage> {
    return await measurePodStorage(this.#node, pod);
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
      ? await writeHostsFile(this.#node, pod, await this.#hostsFile(instance))
      : undefined;
    const terminationLogPath = newTerminationLogPath(this.#node, pod, container.name, this.#random);
    return {hostsPath, terminationLogPath, subPathTargets};
  }

  async createTerminationLog(path: string): Promise<void> {
    await createTerminationLog(path);
  }

  async updateHostsFile(hosts: PodHosts): Promise<void> {
    await updateHostsFile(this.#node, hosts.pod, await this.#hostsFile(hosts));
  }

  async nextLogAttempt(pod: Pod, containerName: string): Promise<number> {
    return await nextLogAttempt(this.#node, pod, containerName);
  }

  async linkContainerLog(pod: Pod, container: CreatedContainer): Promise<void> {
    await this.#logLinks?.create(pod, container);
  }

  async removeContainerLogs(pod: Pod, container: CreatedContainer): Promise<void> {
    await removeContainerLogs(this.#node, pod, container.name, container.restartCount);
    await this.#logLinks?.remove(pod, container);
  }

  async removeVolumes(pod: Pod, signal?: AbortSignal): Promise<void> {
    const {uid} = podRef(pod);
    await this.#endMounts(uid);
    await this.#unmounts.time(uid, () =>
      removePodVolumes(this.#node, uid, {csi: this.#csiVolumes(), signal}),
    );
  }

  /** Removes the pod's directory, then its logs, which stay for diagnosis if the directory cannot be removed. */
  async removePod(pod: Pod, signal?: AbortSignal): Promise<void> {
    const {uid} = podRef(pod);
    await this.#endMounts(uid);
    await this.#unmounts.time(uid, () => removePodDir(this.#node, uid, {csi: this.#csiVolumes(), signal}));
    await removePodLogs(this.#node, pod);
    await this.#logLinks?.removePod(pod);
  }

  /** Ends the operations on the volumes of a pod, and forgets them. */
  async #endMounts(uid: PodUid): Promise<void> {
    await this.#operations.get(uid)?.end();
    this.#operations.delete(uid);
    this.#mounted.delete(uid);
  }

  async #hostsFile({pod, podIps, serviceHosts: services}: PodHosts): Promise<string> {
    const {hostNetwork = false, hostAliases: aliases = []} = pod.spec;
    return hostNetwork
      ? hostNetworkHostsFileContent(await this.#node.readHostsFile(), aliases, services)
      : hostsFileContent({podIps, ...podHostname(pod, this.#node), aliases, services});
  }
}
