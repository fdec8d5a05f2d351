import {readFileSync} from 'node:fs';
import {cpus} from 'node:os';
import {isSystemCallError} from '../../../base/errors.js';
import type {PsiData, PsiStats} from '../../../cri/index.js';
import type {CpuReading} from './cpu-rates.js';

/** Cumulative counters of a network interface. */
export interface InterfaceUsage {
  readonly name: string;
  readonly rxBytes: bigint;
  readonly rxErrors: bigint;
  readonly txBytes: bigint;
  readonly txErrors: bigint;
}

/** Current resource usage of the node. */
export interface NodeUsage {
  readonly timeNanos: bigint;
  readonly cpuNanos: bigint;
  readonly memoryBytes: bigint;
  /** Memory of processes and of cached files. */
  readonly usedBytes: bigint;
  /** Used memory without inactive file pages, which the kernel can reclaim. */
  readonly workingSetBytes: bigint;
  readonly anonymousBytes: bigint;
  readonly pageFaults: bigint;
  readonly majorPageFaults: bigint;
  readonly swapTotalBytes: bigint;
  readonly swapFreeBytes: bigint;
  readonly interfaces: readonly InterfaceUsage[];
  /** Maximum and current number of tasks. */
  readonly maxTasks: bigint;
  readonly tasks: bigint;
  /** Pressure stall information; undefined if the kernel does not provide it. */
  readonly pressure: Readonly<Record<'cpu' | 'memory' | 'io', PsiStats | undefined>>;
}

type NodeMemory = Pick<
  NodeUsage,
  'memoryBytes' | 'usedBytes' | 'workingSetBytes' | 'anonymousBytes' | 'swapTotalBytes' | 'swapFreeBytes'
>;

const KIBIBYTE = 1024n;
/** Interfaces that do not count as the node's (cAdvisor's ignoredDevicePrefixes). */
const IGNORED_INTERFACE = /^(lo|veth|docker)/;

/** Reads the node's cumulative CPU time: user, nice, system and interrupts, without idle time. */
export function readNodeCpu(nowMs: number): CpuReading {
  const usedMs = cpus().reduce((sum, {times: {user, nice, sys, irq}}) => sum + user + nice + sys + irq, 0);
  return {timeNanos: BigInt(nowMs) * 1_000_000n, usedNanos: BigInt(usedMs) * 1_000_000n};
}

/**
 * Reads the node's usage from /proc. Reading it never waits, and another thread would take longer. Throws the system's
 * error.
 */
export function readNodeUsage(nowMs: number): NodeUsage {
  const {timeNanos, usedNanos} = readNodeCpu(nowMs);
  const events = readProc('vmstat');
  return {
    timeNanos,
    cpuNanos: usedNanos,
    ...parseMemory(readProc('meminfo')),
    pageFaults: numberOf(events, 'pgfault'),
    majorPageFaults: numberOf(events, 'pgmajfault'),
    interfaces: parseNetworkInterfaces(readProc('net/dev')),
    ...readTasks(),
    pressure: {cpu: readPressure('cpu'), memory: readPressure('memory'), io: readPressure('io')},
  };
}

function readProc(file: string): string {
  return readFileSync(`/proc/${file}`, 'utf8');
}

/**
 * Parses /proc/meminfo. The used memory is that of the root cgroup, from which a kubelet computes the memory of the node:
 * the pages of processes and files, without the kernel's own (mem_cgroup_usage, rootStatsFromMeminfo).
 */
export function parseMemory(text: string): NodeMemory {
  const bytes = (name: string): bigint => numberOf(text, name) * KIBIBYTE;
  const anonymous = bytes('AnonPages:');
  const used = anonymous + bytes('Cached:') + bytes('Buffers:') + bytes('SwapCached:');
  const inactive = bytes('Inactive(file):');
  return {
    memoryBytes: bytes('MemTotal:'),
    usedBytes: used,
    workingSetBytes: used > inactive ? used - inactive : 0n,
    anonymousBytes: anonymous,
    swapTotalBytes: bytes('SwapTotal:'),
    swapFreeBytes: bytes('SwapFree:'),
  };
}

/** Returns the number after the name at the start of a line; 0 without such a line. */
function numberOf(text: string, name: string): bigint {
  const line = text.split('\n').find((each) => each.startsWith(`${name} `) || each.startsWith(`${name}\t`));
  return BigInt(line?.split(/\s+/)[1] ?? '0');
}

/** Parses /proc/net/dev and returns the node's interfaces. */
export function parseNetworkInterfaces(text: string): readonly InterfaceUsage[] {
  return text
    .split('\n')
    .slice(2)
    .flatMap((line) => {
      const [name = '', rest = ''] = line.split(':').map((part) => part.trim());
      if (name === '' || IGNORED_INTERFACE.test(name)) return [];
      const numbers = rest.split(/\s+/).map((word) => BigInt(word));
      const at = (index: number): bigint => numbers[index] ?? 0n;
      return [{name, rxBytes: at(0), rxErrors: at(2), txBytes: at(8), txErrors: at(10)}];
    });
}

/** Reads the lower of pid_max and threads-max, and the number of tasks (rlimit_stats_linux.go). */
function readTasks(): Pick<NodeUsage, 'maxTasks' | 'tasks'> {
  const pids = BigInt(readProc('sys/kernel/pid_max').trim());
  const threads = BigInt(readProc('sys/kernel/threads-max').trim());
  const tasks = BigInt(/\/(\d+)/.exec(readProc('loadavg'))?.[1] ?? '0');
  return {maxTasks: pids < threads ? pids : threads, tasks};
}

function readPressure(resource: 'cpu' | 'memory' | 'io'): PsiStats | undefined {
  try {
    return parsePressure(readProc(`pressure/${resource}`));
  } catch (error) {
    // The kernel has no PSI, or PSI is disabled.
    if (isSystemCallError(error)) return undefined;
    throw error;
  }
}

const PRESSURE = /^(some|full) avg10=(\S+) avg60=(\S+) avg300=(\S+) total=(\d+)$/gm;

/** Parses pressure stall information of the kernel; undefined if the text contains none. Totals are in microseconds. */
export function parsePressure(text: string): PsiStats | undefined {
  const lines = new Map(
    [...text.matchAll(PRESSURE)].map(
      ([, kind = '', avg10, avg60, avg300, total = '0']): [string, PsiData] => [
        kind,
        {Total: BigInt(total), Avg10: Number(avg10), Avg60: Number(avg60), Avg300: Number(avg300)},
      ],
    ),
  );
  return lines.size === 0 ? undefined : {Full: lines.get('full'), Some: lines.get('some')};
}
