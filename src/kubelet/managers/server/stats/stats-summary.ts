import {uptime} from 'node:os';
import {formatCompactJson, type Json, type JsonObject} from '../../../../format/json.js';
import {podLogsDirectory} from '../../../contract/node-facts.js';
import type {ServerOptions} from '../http-server-options.js';
import {FilesystemStats} from './filesystem-stats.js';
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
import type {ContainerUsage, PodUsage, Usage} from './usage-reader.js';

/** Options of {@link buildSummaryJson}. */
export interface SummaryOptions extends Pick<ServerOptions, 'images' | 'node'> {
  readonly onlyCpuAndMemory: boolean;
  readonly signal: AbortSignal;
}

/**
 * Returns the JSON of /stats/summary (stats/v1alpha1 Summary). Omits values that the runtime does not report. Rejects
 * with CriError.
 */
export async function buildSummaryJson(usage: Usage, options: SummaryOptions): Promise<string> {
  const {onlyCpuAndMemory, node} = options;
  const files = new FilesystemStats();
  const pods = usage.pods.map(async (pod) => podStats(pod, onlyCpuAndMemory ? undefined : {files, node}));
  return formatCompactJson({
    node: {
      nodeName: node.nodeName,
      ...nodeStats(usage),
      ...(!onlyCpuAndMemory && (await nodeDetailStats(usage, files, options))),
    },
    pods: await Promise.all(pods),
  });
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
      psi: pressure.cpu,
    }),
    memory: memoryStats({
      timestamp: timeNanos,
      availableBytes: value(memoryBytes > workingSetBytes ? memoryBytes - workingSetBytes : 0n),
      usageBytes: value(rest.usedBytes),
      workingSetBytes: value(workingSetBytes),
      rssBytes: value(rest.anonymousBytes),
      pageFaults: value(rest.pageFaults),
      majorPageFaults: value(rest.majorPageFaults),
      psi: pressure.memory,
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
    io: ioStats({timestamp: timeNanos, psi: pressure.io}),
    rlimit: {time: formatTimestamp(timeNanos), maxpid: maxTasks, curproc: tasks},
    fs,
    runtime: omitUndefined({
      imageFs: image && (await files.readRuntimeFilesystem(image)),
      containerFs: container && (await files.readRuntimeFilesystem(container)),
    }),
  });
}

/** Dependencies of the stats beyond CPU and memory. */
interface DetailSources extends Pick<ServerOptions, 'node'> {
  readonly files: FilesystemStats;
}

async function podStats(pod: PodUsage, details: DetailSources | undefined): Promise<Json> {
  const {ref, startedAtNanos, containers, processCount} = pod;
  return omitUndefined({
    podRef: {name: ref.name, namespace: ref.namespace, uid: ref.uid},
    startTime: startedAtNanos === undefined ? undefined : formatTimestamp(startedAtNanos),
    containers: await Promise.all(containers.map(async (each) => containerStats(pod, each, details))),
    cpu: cpuStats(pod.cpu),
    memory: memoryStats(pod.memory),
    swap: swapStats(pod.swap),
    ...(details && {
      io: ioStats(pod.io),
      network: podNetworkStats(pod.network),
      process_stats: processCount === undefined ? undefined : {process_count: processCount},
    }),
  });
}

async function containerStats(
  pod: PodUsage,
  {name, startedAtNanos, stats}: ContainerUsage,
  details: DetailSources | undefined,
): Promise<Json> {
  const {cpu, memory, swap, io, writableLayer} = stats;
  return omitUndefined({
    name,
    startTime: startedAtNanos === undefined ? undefined : formatTimestamp(startedAtNanos),
    cpu: cpuStats(cpu),
    memory: memoryStats(memory),
    swap: swapStats(swap),
    ...(details && {
      io: ioStats(io),
      rootfs: writableLayer && (await details.files.readRuntimeFilesystem(writableLayer)),
      logs: cpu && (await logStats(pod, name, cpu.timestamp, details)),
    }),
  });
}

/**
 * Reads the stats of a container's logs; only for the kubelet's own pods, since other names are not trusted as paths.
 */
async function logStats(
  {ref, startedAtNanos}: PodUsage,
  container: string,
  timeNanos: bigint,
  {files, node}: DetailSources,
): Promise<JsonObject | undefined> {
  if (startedAtNanos === undefined) return undefined;
  return await files.readLogDirectory(`${podLogsDirectory(node, ref)}/${container}`, timeNanos);
}
