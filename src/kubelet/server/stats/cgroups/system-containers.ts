import {readFile} from 'node:fs/promises';
import {hasErrno} from '../../../../base/errors.js';
import type {JsonObject} from '../../../../format/json.js';
import {podsCgroup} from '../../../resources/pod-cgroup-parent.js';
import type {ServerOptions} from '../../http-server-options.js';
import {cpuStats, formatTimestamp, ioStats, memoryStats, omitUndefined, swapStats} from '../summary-parts.js';
import {cgroupStats, type CgroupStats} from './cgroup-stats.js';
import {readCgroupUsage} from './read-cgroup-usage.js';

/** Usage of a cgroup that is not that of a pod. */
export interface SystemContainerUsage {
  readonly name: 'kubelet' | 'pods';
  readonly startedAtNanos: bigint;
  readonly stats: CgroupStats;
}

/** Options of {@link readSystemContainers}. */
export interface SystemContainerOptions extends Pick<ServerOptions, 'node'> {
  readonly nowMs: number;
  /** Start time of the kubelet, in ms since the epoch. */
  readonly startedAtMs: number;
}

/**
 * Reads the usage of the cgroup of the kubelet's process and of the cgroup of all pods (GetSystemContainersStats); omits
 * those that do not exist. Rejects with SystemError.
 */
export async function readSystemContainers({
  node,
  nowMs,
  startedAtMs,
}: SystemContainerOptions): Promise<readonly SystemContainerUsage[]> {
  const {cgroup, cgroupMount: mount} = node;
  if (mount === undefined) return [];
  const own = findOwnCgroup(await ownCgroups(), cgroup.version);
  const read = (name: SystemContainerUsage['name'], path: string | undefined, start?: bigint) => {
    const usage =
      path === undefined ? undefined : readCgroupUsage({mount, version: cgroup.version}, path, nowMs);
    if (usage === undefined) return [];
    return [{name, startedAtNanos: start ?? usage.createdAtNanos, stats: cgroupStats(usage)}];
  };
  return [...read('kubelet', own, BigInt(startedAtMs) * 1_000_000n), ...read('pods', podsCgroup(cgroup))];
}

async function ownCgroups(): Promise<string> {
  try {
    return await readFile('/proc/self/cgroup', 'utf8');
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return '';
    throw error;
  }
}

/**
 * Returns the cgroup of a process from its /proc file; undefined if its hierarchies differ, so that no cgroup accounts for
 * all of its usage (getContainer).
 */
export function findOwnCgroup(text: string, version: 1 | 2): string | undefined {
  const paths = new Map<string, string>();
  for (const [, controllers = '', path = ''] of text.matchAll(/^\d+:([^:]*):(.*)$/gm))
    for (const controller of controllers.split(',')) paths.set(controller, path);
  if (version === 2) return paths.get('');
  const cpu = paths.get('cpu');
  return cpu !== undefined && cpu === paths.get('memory') ? (paths.get('name=systemd') ?? cpu) : undefined;
}

/** Returns the ContainerStats of a system container. */
export function systemContainerStats(
  {name, startedAtNanos, stats}: SystemContainerUsage,
  {onlyCpuAndMemory}: {readonly onlyCpuAndMemory: boolean},
): JsonObject {
  return omitUndefined({
    name,
    startTime: formatTimestamp(startedAtNanos),
    cpu: cpuStats(stats.cpu),
    memory: memoryStats(stats.memory),
    ...(!onlyCpuAndMemory && {io: ioStats(stats.io)}),
    swap: swapStats(stats.swap),
  });
}
