import {statfs} from 'node:fs/promises';
import {uptime} from 'node:os';
import type {
  ContainerStats,
  CpuUsage,
  FilesystemUsage,
  MemoryUsage,
  NetworkInterfaceUsage,
  NetworkUsage,
  SwapUsage,
  UInt64Value,
} from '../../../cri/index.js';
import {jsonLine, type Json, type JsonObject} from '../../../format/json.js';
import type {ServerOptions} from '../options.js';
import type {ContainerUsage, NodeUsage, PodUsage, Usage} from './usage.js';

/** How much is told. */
export interface SummaryOptions extends Pick<ServerOptions, 'images' | 'node'> {
  readonly onlyCpuAndMemory: boolean;
  readonly signal: AbortSignal;
}

/** /stats/summary as JSON (stats/v1alpha1 Summary). What the runtime doesn't tell is left out. Rejects with CriError. */
export async function summaryJson(usage: Usage, options: SummaryOptions): Promise<string> {
  const {onlyCpuAndMemory, node} = options;
  const file = onlyCpuAndMemory ? {} : await fileSystems(usage.node.timeNanos, options);
  return jsonLine({
    node: {nodeName: node.nodeName, ...nodeStats(usage.node), ...file},
    pods: usage.pods.map((pod) => podStats(pod, onlyCpuAndMemory)),
  });
}

function nodeStats(node: NodeUsage): JsonObject {
  const {timeNanos, cpuNanos, memoryBytes, usedBytes, workingSetBytes, anonymousBytes} = node;
  const time = timeText(timeNanos);
  return {
    startTime: timeText(timeNanos - BigInt(Math.round(uptime())) * 1_000_000_000n),
    cpu: {time, usageCoreNanoSeconds: cpuNanos},
    memory: {
      time,
      availableBytes: memoryBytes > workingSetBytes ? memoryBytes - workingSetBytes : 0n,
      usageBytes: usedBytes,
      workingSetBytes,
      rssBytes: anonymousBytes,
    },
    swap: {
      time,
      swapAvailableBytes: node.swapFreeBytes,
      swapUsageBytes: node.swapTotalBytes - node.swapFreeBytes,
    },
  };
}

async function fileSystems(timeNanos: bigint, {images, node, signal}: SummaryOptions): Promise<JsonObject> {
  const [own, {imageFilesystems}] = await Promise.all([
    fileSystem(node.rootDir, timeNanos),
    images.imageFsInfo({}, {signal}),
  ]);
  const [image] = imageFilesystems;
  const imageFs = image === undefined ? {} : await imageFileSystem(image);
  return {fs: own, runtime: {imageFs}};
}

async function fileSystem(path: string, timeNanos: bigint): Promise<JsonObject> {
  const {bsize, bavail, blocks, bfree, files, ffree} = await statfs(path, {bigint: true});
  return {
    time: timeText(timeNanos),
    availableBytes: bavail * bsize,
    capacityBytes: blocks * bsize,
    usedBytes: (blocks - bfree) * bsize,
    inodes: files,
    inodesFree: ffree,
    inodesUsed: files - ffree,
  };
}

async function imageFileSystem({
  fsId,
  usedBytes,
  inodesUsed,
  timestamp,
}: FilesystemUsage): Promise<JsonObject> {
  const used = present({usedBytes: valueOf(usedBytes), inodesUsed: valueOf(inodesUsed)});
  const path = fsId?.mountpoint ?? '';
  try {
    return {...(await fileSystem(path, timestamp)), ...used};
  } catch {
    return {time: timeText(timestamp), ...used}; // the runtime may be on another machine
  }
}

function podStats({ref, startedAtNanos, containers, stats}: PodUsage, onlyCpuAndMemory: boolean): Json {
  return present({
    podRef: {name: ref.name, namespace: ref.namespace, uid: ref.uid},
    startTime: startedAtNanos === undefined ? undefined : timeText(startedAtNanos),
    containers: containers.map((container) => containerStats(container, onlyCpuAndMemory)),
    cpu: cpuStats(stats?.cpu),
    memory: memoryStats(stats?.memory),
    ...(!onlyCpuAndMemory && {
      network: networkStats(stats?.network),
      process_stats: present({process_count: valueOf(stats?.process?.processCount)}),
    }),
  });
}

function containerStats({name, startedAtNanos, stats}: ContainerUsage, onlyCpuAndMemory: boolean): Json {
  return present({
    name,
    startTime: startedAtNanos === undefined ? undefined : timeText(startedAtNanos),
    cpu: cpuStats(stats.cpu),
    memory: memoryStats(stats.memory),
    swap: swapStats(stats.swap),
    ...(!onlyCpuAndMemory && {rootfs: rootfsStats(stats)}),
  });
}

function cpuStats(cpu: CpuUsage | undefined): Json | undefined {
  return (
    cpu &&
    present({
      time: timeText(cpu.timestamp),
      usageNanoCores: valueOf(cpu.usageNanoCores),
      usageCoreNanoSeconds: valueOf(cpu.usageCoreNanoSeconds),
    })
  );
}

function memoryStats(memory: MemoryUsage | undefined): Json | undefined {
  return (
    memory &&
    present({
      time: timeText(memory.timestamp),
      availableBytes: valueOf(memory.availableBytes),
      usageBytes: valueOf(memory.usageBytes),
      workingSetBytes: valueOf(memory.workingSetBytes),
      rssBytes: valueOf(memory.rssBytes),
      pageFaults: valueOf(memory.pageFaults),
      majorPageFaults: valueOf(memory.majorPageFaults),
    })
  );
}

function swapStats(swap: SwapUsage | undefined): Json | undefined {
  return (
    swap &&
    present({
      time: timeText(swap.timestamp),
      swapAvailableBytes: valueOf(swap.swapAvailableBytes),
      swapUsageBytes: valueOf(swap.swapUsageBytes),
    })
  );
}

function rootfsStats({writableLayer: layer}: ContainerStats): Json | undefined {
  return (
    layer &&
    present({
      time: timeText(layer.timestamp),
      usedBytes: valueOf(layer.usedBytes),
      inodesUsed: valueOf(layer.inodesUsed),
    })
  );
}

function networkStats(network: NetworkUsage | undefined): Json | undefined {
  return (
    network && {
      time: timeText(network.timestamp),
      ...(network.defaultInterface && interfaceStats(network.defaultInterface)),
      interfaces: [
        ...(network.defaultInterface === undefined ? [] : [network.defaultInterface]),
        ...network.interfaces,
      ].map(interfaceStats),
    }
  );
}

function interfaceStats({name, rxBytes, rxErrors, txBytes, txErrors}: NetworkInterfaceUsage): JsonObject {
  return present({
    name,
    rxBytes: valueOf(rxBytes),
    rxErrors: valueOf(rxErrors),
    txBytes: valueOf(txBytes),
    txErrors: valueOf(txErrors),
  });
}

function present(members: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(members).filter((entry): entry is [string, Json] => entry[1] !== undefined),
  );
}

function valueOf(measured: UInt64Value | undefined): bigint | undefined {
  return measured?.value;
}

function timeText(nanos: bigint): string {
  return new Date(Number(nanos / 1_000_000n)).toISOString().replace(/\.\d+Z$/, 'Z');
}
