import type {JsonObject} from '../../../../format/json.js';
import {podDir, podLogsDirectory} from '../../../contract/node-facts.js';
import type {ServerOptions} from '../../http-server-options.js';
import {formatTimestamp} from '../summary-parts.js';
import type {PodUsage} from '../usage-reader.js';
import type {FilesystemCapacity, FilesystemStats} from './filesystem-stats.js';
import {readFilesUsage, readFileUsage, sumFileUsage, type FileUsage} from '../../../../base/fs/file-usage.js';
import type {VolumeUsage} from './measured-volume.js';

/** Sources of the storage that a pod uses. */
export interface StorageSources extends Pick<ServerOptions, 'node'> {
  readonly files: FilesystemStats;
  /** Volumes of the kubelet's pods by UID. */
  readonly volumes: ReadonlyMap<string, readonly VolumeUsage[]>;
  /** Time of the reading, in ns since the epoch. */
  readonly timeNanos: bigint;
}

/** Storage of a pod, as a part of its stats. */
export interface PodStorage {
  /** Stats of each container's logs, by the name of the container. */
  readonly logs: ReadonlyMap<string, JsonObject>;
  readonly stats: JsonObject;
}

/**
 * Reads the storage of a pod: volumes, logs and its hosts file (makePodStorageStats). Only the files of the kubelet's own
 * pods are read, since the names of other pods are not trusted as paths. Rejects with the system's error.
 */
export async function readPodStorage(pod: PodUsage, sources: StorageSources): Promise<PodStorage> {
  const {files, node, timeNanos} = sources;
  const capacity = await files.capacity(node.rootDir);
  const isOwn = pod.startedAtNanos !== undefined;
  const volumes = isOwn ? (sources.volumes.get(pod.ref.uid) ?? []) : [];
  const logs = isOwn ? await readLogs(pod, sources) : new Map<string, FileUsage>();
  const other = isOwn ? await readOtherFiles(pod, sources) : [];
  const layers = pod.containers.map(({stats: {writableLayer: layer}}) => ({
    usedBytes: layer?.usedBytes?.value ?? 0n,
    inodesUsed: layer?.inodesUsed?.value ?? 0n,
  }));
  const ephemeral = volumes.filter(({isEphemeral}) => isEphemeral);
  const used = sumFileUsage([...layers, ...logs.values(), ...ephemeral, ...other]);
  return {
    logs: new Map([...logs].map(([name, usage]) => [name, fsStats(timeNanos, capacity, usage)])),
    stats: {
      ...(volumes.length > 0 && {volume: volumes.map(volumeStats)}),
      'ephemeral-storage': fsStats(timeNanos, capacity, used),
    },
  };
}

/** Reads the logs of the containers. */
async function readLogs(
  {ref, containers}: PodUsage,
  {node}: StorageSources,
): Promise<ReadonlyMap<string, FileUsage>> {
  const directory = podLogsDirectory(node, ref);
  const logs = new Map<string, FileUsage>();
  for (const {name} of containers) {
    const usage = await readFilesUsage(`${directory}/${name}`);
    if (usage !== undefined) logs.set(name, usage);
  }
  return logs;
}

/** Reads the files beside the directories of logs, and the hosts file. */
async function readOtherFiles({ref}: PodUsage, {node}: StorageSources): Promise<readonly FileUsage[]> {
  const usages = await Promise.all([
    readFilesUsage(podLogsDirectory(node, ref)),
    readFileUsage(`${podDir(node, ref.uid)}/etc-hosts`),
  ]);
  return usages.filter((usage) => usage !== undefined);
}

function fsStats(timeNanos: bigint, capacity: FilesystemCapacity, usage: FileUsage): JsonObject {
  const {usedBytes, inodesUsed} = usage;
  return {time: formatTimestamp(timeNanos), ...capacity, usedBytes, inodesUsed};
}

function volumeStats({name, timeNanos, capacity, claim, ...usage}: VolumeUsage): JsonObject {
  return {...fsStats(timeNanos, capacity, usage), name, ...(claim && {pvcRef: {...claim}})};
}
