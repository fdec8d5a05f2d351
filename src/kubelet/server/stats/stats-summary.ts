import {uptime} from 'node:os';
import type {IoUsage, PsiStats} from '../../../cri/index.js';
import {formatCompactJson, type Json, type JsonObject} from '../../../format/json.js';
import type {ServerOptions} from '../http-server-options.js';
import {systemContainerStats} from './cgroups/system-containers.js';
import {FilesystemStats} from './storage/filesystem-stats.js';
import {readPodStorage, type StorageSources} from './storage/pod-storage.js';
import type {VolumeUsage} from './storage/measured-volume.js';
import {
  cpuStats,
  ioStats,
  memoryStats,
  nodeNetworkStats,
  podNetworkStats,
  omitUndefined,
  swapStats,
  formatTimestamp,
} from './summary-parts.js';
import {containerSwap, podSwap} from './sum-usage.js';
import type {ContainerUsage, PodUsage, Usage} from './usage-reader.js';

/** Options of {@link buildSummaryJson}. */
export interface SummaryOptions extends Pick<ServerOptions, 'images' | 'node'> {
  readonly onlyCpuAndMemory: boolean;
  readonly signal: AbortSignal;
  /** Volumes of the kubelet's pods by UID. */
  readonly volumes: ReadonlyMap<string, readonly VolumeUsage[]>;
}

/**
 * Returns the JSON of /stats/summary (stats/v1alpha1 Summary). Omits values that the runtime does not report. Rejects
 * with CriError.
 */
export async function buildSummaryJson(usage: Usage, options: SummaryOptions): Promise<string> {
  const {onlyCpuAndMemory, node, volumes} = options;
  const files = new FilesystemStats();
  const {timeNanos} = usage.node;
  const sources = onlyCpuAndMemory ? undefined : {files, node, volumes, timeNanos};
  const pods = usage.pods.map(async (pod) => podStats(pod, sources));
  return formatCompactJson({
    node: {
      nodeName: node.nodeName,
      ...nodeStats(usage),
      ...systemContainers(usage, options),
      ...(!onlyCpuAndMemory && (await nodeDetailStats(usage, files, options))),
    },
    pods: await Promise.all(pods),
  });
}

function systemContainers({systemContainers: all}: Usage, options: SummaryOptions): JsonObject {
  if (all.length === 0) return {};
  return {systemContainers: all.map((each) => systemContainerStats(each, options))};
}

function nodeStats({node, nodeNanoCores}: Usage): JsonObject {
  const {timeNanos, cpuNanos, memoryBytes, workingSetBytes, pressure, ...rest} = node;
  const value = (measured: bigint): {readonly value: bigint} => ({value: measured});
  return omitUndefined({
    startTime: formatTimestamp(timeNanos - BigInt(Math.round(uptime())) * 1_000_000_000n),
    cpu: cpuStats({
      timestamp: timeNanos,
      usageNanoCores: nodeNanoCores === undefined ? undefined : value(nodeNanoCores),
      usageCoreNanoSeconds: value(cpuNanos),
      psi: pressure.cpu ?? {},
    }),
    memory: memoryStats({
      timestamp: timeNanos,
      availableBytes: value(memoryBytes > workingSetBytes ? memoryBytes - workingSetBytes : 0n),
      usageBytes: value(rest.usedBytes),
      workingSetBytes: value(workingSetBytes),
      rssBytes: value(rest.anonymousBytes),
      pageFaults: value(rest.pageFaults),
      majorPageFaults: value(rest.majorPageFaults),
      psi: pressure.memory ?? {},
    }),
    swap: swapStats({
      timestamp: timeNanos,
      swapAvailableBytes: value(rest.swapFreeBytes),
      swapUsageBytes: value(rest.swapTotalBytes - rest.swapFreeBytes),
    }),
  });
}

async function nodeDetailStats(
  {node: {timeNanos, interfaces, maxTasks, tasks, pressure}}: Usage,
  files: FilesystemStats,
  {images, node, signal}: SummaryOptions,
): Promise<JsonObject> {
  const [fs, {imageFilesystems, containerFilesystems}] = await Promise.all([
    files.readFilesystem(node.rootDir, timeNanos),
    images.imageFsInfo({}, {signal}),
  ]);
  const [image] = imageFilesystems;
  const [container = image] = containerFilesystems;
  return omitUndefined({
    network: nodeNetworkStats(timeNanos, interfaces),
    io: ioStats({timestamp: timeNanos, psi: pressure.io ?? {}}),
    rlimit: {time: formatTimestamp(timeNanos), maxpid: maxTasks, curproc: tasks},
    fs,
    runtime: omitUndefined({
      imageFs: image && (await files.readRuntimeFilesystem(image)),
      containerFs: container && (await files.readRuntimeFilesystem(container)),
    }),
  });
}

async function podStats(pod: PodUsage, sources: StorageSources | undefined): Promise<Json> {
  const {ref, startedAtNanos, containers, processCount} = pod;
  const storage = sources && (await readPodStorage(pod, sources));
  const details = sources && storage && {files: sources.files, logs: storage.logs};
  return omitUndefined({
    podRef: {name: ref.name, namespace: ref.namespace, uid: ref.uid},
    startTime: startedAtNanos === undefined ? undefined : formatTimestamp(startedAtNanos),
    containers: await Promise.all(containers.map(async (each) => containerStats(each, details))),
    cpu: cpuStats(withPressure(pod.cpu)),
    memory: memoryStats(withPressure(pod.memory)),
    swap: swapStats(podSwap(pod)),
    ...(storage && {
      io: ioStats(withPressure(pod.io ?? timeOf(pod.cpu))),
      network: podNetworkStats(pod.network),
      ...storage.stats,
      process_stats: processCount === undefined ? undefined : {process_count: processCount},
    }),
  });
}

/** Adds a pressure of 0 to usage without pressure stall information, as in a kubelet. */
function withPressure<Measured extends {readonly psi?: PsiStats | undefined}>(
  usage: Measured | undefined,
): (Measured & {readonly psi: PsiStats}) | undefined {
  return usage && {...usage, psi: usage.psi ?? {}};
}

/** Returns the time of a reading as that of one without values. */
function timeOf(usage: {readonly timestamp: bigint} | undefined): IoUsage | undefined {
  return usage && {timestamp: usage.timestamp};
}

/** Stats of containers beyond CPU and memory. */
interface ContainerDetails {
  readonly files: FilesystemStats;
  readonly logs: ReadonlyMap<string, JsonObject>;
}

async function containerStats(
  {name, startedAtNanos, stats}: ContainerUsage,
  details: ContainerDetails | undefined,
): Promise<Json> {
  const {cpu, memory, io, writableLayer} = stats;
  return omitUndefined({
    name,
    startTime: startedAtNanos === undefined ? undefined : formatTimestamp(startedAtNanos),
    cpu: cpuStats(cpu),
    memory: memoryStats(memory),
    swap: swapStats(containerSwap(stats)),
    ...(details && {
      io: ioStats(io ?? timeOf(cpu)),
      rootfs: writableLayer && (await details.files.readRuntimeFilesystem(writableLayer)),
      logs: details.logs.get(name),
    }),
  });
}
