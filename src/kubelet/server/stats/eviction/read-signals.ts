import type {ImageService} from '../../../../cri/index.js';
import type {NodeFacts} from '../../../contract/node-facts.js';
import type {EvictionSignal} from '../../../contract/resources/eviction-settings.js';
import type {
  NodeSignals,
  SignalObservation,
  SignalObservations,
} from '../../../contract/resources/node-signals.js';
import {podsCgroup} from '../../../resources/pod-cgroup-parent.js';
import {cgroupStats} from '../cgroups/cgroup-stats.js';
import {readCgroupUsage} from '../cgroups/read-cgroup-usage.js';
import {readNodeUsage, type NodeUsage} from '../node-usage.js';
import {FilesystemStats} from '../storage/filesystem-stats.js';
import {RuntimeFilesystemReader} from '../../../node/runtime-filesystems.js';

/** Options of {@link SignalReader}. */
export interface SignalReaderOptions {
  readonly node: Pick<NodeFacts, 'rootDir' | 'cgroup' | 'cgroupMount'>;
  readonly images: Pick<ImageService, 'imageFsInfo'>;
  readonly clock: {now(): number};
}

/** Observes the resources that the node can run out of (makeSignalObservations). */
export class SignalReader {
  readonly #options: SignalReaderOptions;
  readonly #filesystems: RuntimeFilesystemReader;

  constructor(options: SignalReaderOptions) {
    this.#options = options;
    this.#filesystems = new RuntimeFilesystemReader(options);
  }

  /** Reads the resources. Rejects with CriError, SystemError, the system's error or the signal's reason. */
  async read(signal: AbortSignal): Promise<NodeSignals> {
    const {node, clock} = this.#options;
    const nowMs = clock.now();
    const {imageFs, containerFs, layout} = await this.#filesystems.read(signal);
    const observations = new Map<EvictionSignal, SignalObservation>([
      ...readProcesses(node, nowMs),
      ...(await filesystemObservations('nodefs', node.rootDir)),
      ...(await filesystemObservations('imagefs', imageFs)),
      ...(await filesystemObservations('containerfs', containerFs)),
    ]);
    return {observations, layout};
  }

  /** Reads only what changes in moments: memory and processes. Throws the system's error. */
  readMemory(): SignalObservations {
    const {node, clock} = this.#options;
    return new Map(readProcesses(node, clock.now()));
  }
}

function readProcesses(node: SignalReaderOptions['node'], nowMs: number): Observations {
  return [...nodeObservations(readNodeUsage(nowMs)), ...podsObservations(node, nowMs)];
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
