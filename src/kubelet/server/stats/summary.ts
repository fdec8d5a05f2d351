import {uptime} from 'node:os';
import {jsonLine, type Json, type JsonObject} from '../../../format/json.js';
import {podLogsDirectory} from '../../container/node.js';
import type {ServerOptions} from '../options.js';
import {FileSystems} from './file-systems.js';
import {
  cpuStats,
  ioStats,
  memoryStats,
  nodeNetworkStats,
  podNetworkStats,
  present,
  swapStats,
  timeText,
} from './summary-parts.js';
import type {ContainerUsage, PodUsage, Usage} from './usage.js';

/** How much is told. */
export interface SummaryOptions extends Pick<ServerOptions, 'images' | 'node'> {
  readonly onlyCpuAndMemory: boolean;
  readonly signal: AbortSignal;
}

/** /stats/summary as JSON (stats/v1alpha1 Summary). What the runtime doesn't tell is left out. Rejects with CriError. */
export async function summaryJson(usage: Usage, options: SummaryOptions): Promise<string> {
  const {onlyCpuAndMemory, node} = options;
  const files = new FileSystems();
  const pods = usage.pods.map(async (pod) => podStats(pod, onlyCpuAndMemory ? undefined : {files, node}));
  return jsonLine({
    node: {
      nodeName: node.nodeName,
      ...nodeStats(usage),
      ...(!onlyCpuAndMemory && (await furtherNodeStats(usage, files, options))),
    },
    pods: await Promise.all(pods),
  });
}

function nodeStats({node, nodeNanoCores}: Usage): JsonObject {
  const {timeNanos, cpuNanos, memoryBytes, workingSetBytes, pressure, ...rest} = node;
  const value = (measured: bigint): {readonly value: bigint} => ({value: measured});
  return present({
    startTime: timeText(timeNanos - BigInt(Math.round(uptime())) * 1_000_000_000n),
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

async function furtherNodeStats(
  {node: {timeNanos, interfaces, maxTasks, tasks, pressure}}: Usage,
  files: FileSystems,
  {images, node, signal}: SummaryOptions,
): Promise<JsonObject> {
  const [fs, {imageFilesystems, containerFilesystems}] = await Promise.all([
    files.whole(node.rootDir, timeNanos),
    images.imageFsInfo({}, {signal}),
  ]);
  const [image] = imageFilesystems;
  const [container = image] = containerFilesystems;
  return present({
    network: nodeNetworkStats(timeNanos, interfaces),
    io: ioStats({timestamp: timeNanos, psi: pressure.io}),
    rlimit: {time: timeText(timeNanos), maxpid: maxTasks, curproc: tasks},
    fs,
    runtime: present({
      imageFs: image && (await files.part(image)),
      containerFs: container && (await files.part(container)),
    }),
  });
}

/** Where more than CPU and memory is to be read. */
interface Further extends Pick<ServerOptions, 'node'> {
  readonly files: FileSystems;
}

async function podStats(pod: PodUsage, further: Further | undefined): Promise<Json> {
  const {ref, startedAtNanos, containers, processCount} = pod;
  return present({
    podRef: {name: ref.name, namespace: ref.namespace, uid: ref.uid},
    startTime: startedAtNanos === undefined ? undefined : timeText(startedAtNanos),
    containers: await Promise.all(containers.map(async (each) => containerStats(pod, each, further))),
    cpu: cpuStats(pod.cpu),
    memory: memoryStats(pod.memory),
    swap: swapStats(pod.swap),
    ...(further && {
      io: ioStats(pod.io),
      network: podNetworkStats(pod.network),
      process_stats: processCount === undefined ? undefined : {process_count: processCount},
    }),
  });
}

async function containerStats(
  pod: PodUsage,
  {name, startedAtNanos, stats}: ContainerUsage,
  further: Further | undefined,
): Promise<Json> {
  const {cpu, memory, swap, io, writableLayer} = stats;
  return present({
    name,
    startTime: startedAtNanos === undefined ? undefined : timeText(startedAtNanos),
    cpu: cpuStats(cpu),
    memory: memoryStats(memory),
    swap: swapStats(swap),
    ...(further && {
      io: ioStats(io),
      rootfs: writableLayer && (await further.files.part(writableLayer)),
      logs: cpu && (await logsOf(pod, name, cpu.timestamp, further)),
    }),
  });
}

/** Of the kubelet's own pods: it knows where those of others are only by what they say. */
async function logsOf(
  {ref, startedAtNanos}: PodUsage,
  container: string,
  timeNanos: bigint,
  {files, node}: Further,
): Promise<JsonObject | undefined> {
  if (startedAtNanos === undefined) return undefined;
  return await files.logs(`${podLogsDirectory(node, ref)}/${container}`, timeNanos);
}
