import {stat} from 'node:fs/promises';
import {isSystemCallError} from '../../../../../base/errors.js';
import type {ImageService} from '../../../../../cri/index.js';
import type {NodeFacts} from '../../../../contract/node-facts.js';
import type {EvictionSignal} from '../../../../contract/resources/eviction-thresholds.js';
import type {
  FilesystemLayout,
  NodeSignals,
  SignalObservation,
} from '../../../../contract/resources/node-signals.js';
import {podsCgroup} from '../../../kuberuntime/config/resources/pod-cgroup-parent.js';
import {cgroupStats} from '../cgroups/cgroup-stats.js';
import {readCgroupUsage} from '../cgroups/read-cgroup-usage.js';
import {readNodeUsage, type NodeUsage} from '../node-usage.js';
import {FilesystemStats} from '../storage/filesystem-stats.js';

/** Options of {@link SignalReader}. */
export interface SignalReaderOptions {
  readonly node: Pick<NodeFacts, 'rootDir' | 'cgroup' | 'cgroupMount'>;
  readonly images: Pick<ImageService, 'imageFsInfo'>;
  readonly clock: {now(): number};
}

/** Filesystems of the runtime by their mount points; undefined if the runtime does not report them. */
interface RuntimeFilesystems {
  readonly imageFs: string | undefined;
  readonly containerFs: string | undefined;
  readonly layout: FilesystemLayout;
}

/** Observes the resources that the node can run out of (makeSignalObservations). */
export class SignalReader {
  readonly #options: SignalReaderOptions;
  /** Asked for until the runtime reports them: it does not move its files while it runs. */
  #filesystems: RuntimeFilesystems | undefined;

  constructor(options: SignalReaderOptions) {
    this.#options = options;
  }

  /** Reads the resources. Rejects with CriError, SystemError, the system's error or the signal's reason. */
  async read(signal: AbortSignal): Promise<NodeSignals> {
    const {node, clock} = this.#options;
    const nowMs = clock.now();
    const filesystems = this.#filesystems ?? (await this.#findFilesystems(signal));
    const {imageFs, containerFs, layout} = filesystems;
    if (imageFs !== undefined) this.#filesystems = filesystems;
    const observations = new Map<EvictionSignal, SignalObservation>([
      ...nodeObservations(await readNodeUsage(nowMs)),
      ...podsObservations(node, nowMs),
      ...(await filesystemObservations('nodefs', node.rootDir)),
      ...(await filesystemObservations('imagefs', imageFs)),
      ...(await filesystemObservations('containerfs', containerFs)),
    ]);
    return {observations, layout};
  }

  async #findFilesystems(signal: AbortSignal): Promise<RuntimeFilesystems> {
    const {node, images} = this.#options;
    const {imageFilesystems, containerFilesystems} = await images.imageFsInfo({}, {signal});
    const imageFs = imageFilesystems[0]?.fsId?.mountpoint;
    const containerFs = containerFilesystems[0]?.fsId?.mountpoint ?? imageFs;
    const [root, image, container] = await Promise.all([node.rootDir, imageFs, containerFs].map(deviceOf));
    const layout = {
      dedicatedImageFs: image !== undefined && image !== root,
      splitContainerFs: container !== undefined && image !== undefined && container !== image,
    };
    return {imageFs, containerFs, layout};
  }
}

/** Returns the device of a path; undefined if it does not exist here, as for a runtime in another mount namespace. */
async function deviceOf(path: string | undefined): Promise<bigint | undefined> {
  if (path === undefined) return undefined;
  try {
    return (await stat(path, {bigint: true})).dev;
  } catch (error) {
    if (isSystemCallError(error)) return undefined;
    throw error;
  }
}

type Observations = readonly (readonly [EvictionSignal, SignalObservation])[];

function nodeObservations({memoryBytes, workingSetBytes, maxTasks, tasks}: NodeUsage): Observations {
  const free = memoryBytes > workingSetBytes ? memoryBytes - workingSetBytes : 0n;
  return [
    ['memory.available', {available: free, capacity: memoryBytes}],
    ...(maxTasks > 0n ? [['pid.available', {available: maxTasks - tasks, capacity: maxTasks}] as const] : []),
  ];
}

/** Returns the memory that the limit of the cgroup of all pods leaves; nothing without such a cgroup. */
function podsObservations(
  {cgroup, cgroupMount: mount}: SignalReaderOptions['node'],
  nowMs: number,
): Observations {
  if (mount === undefined) return [];
  const usage = readCgroupUsage({mount, version: cgroup.version}, podsCgroup(cgroup), nowMs);
  const {availableBytes, workingSetBytes} = (usage && cgroupStats(usage).memory) ?? {};
  if (availableBytes === undefined || workingSetBytes === undefined) return [];
  const [available, used] = [availableBytes.value, workingSetBytes.value];
  return [['allocatableMemory.available', {available, capacity: available + used}]];
}

async function filesystemObservations(
  name: 'nodefs' | 'imagefs' | 'containerfs',
  path: string | undefined,
): Promise<Observations> {
  if (path === undefined) return [];
  const {availableBytes, capacityBytes, inodes, inodesFree} = await new FilesystemStats().capacity(path);
  const observations: [EvictionSignal, SignalObservation][] = [];
  if (availableBytes !== undefined && capacityBytes !== undefined)
    observations.push([`${name}.available`, {available: availableBytes, capacity: capacityBytes}]);
  // Some filesystems, such as btrfs, count no inodes.
  if (inodesFree !== undefined && inodes !== undefined && inodes > 0n)
    observations.push([`${name}.inodesFree`, {available: inodesFree, capacity: inodes}]);
  return observations;
}
