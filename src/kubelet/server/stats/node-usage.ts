import {readFile} from 'node:fs/promises';
import {cpus} from 'node:os';
import {isSystemCallError} from '../../../base/errors.js';
import type {PsiData, PsiStats} from '../../../cri/index.js';
import type {CpuReading} from './cpu-rates.js';

/** What has come and gone through a network interface since it was made. */
export interface InterfaceUsage {
  readonly name: string;
  readonly rxBytes: bigint;
  readonly rxErrors: bigint;
  readonly txBytes: bigint;
  readonly txErrors: bigint;
}

/** What the node uses now. */
export interface NodeUsage {
  readonly timeNanos: bigint;
  readonly cpuNanos: bigint;
  readonly memoryBytes: bigint;
  readonly usedBytes: bigint;
  /** Without what is given up when somebody needs it. */
  readonly workingSetBytes: bigint;
  readonly anonymousBytes: bigint;
  readonly pageFaults: bigint;
  readonly majorPageFaults: bigint;
  readonly swapTotalBytes: bigint;
  readonly swapFreeBytes: bigint;
  readonly interfaces: readonly InterfaceUsage[];
  /** How many tasks there may be, and are. */
  readonly maxTasks: bigint;
  readonly tasks: bigint;
  /** How long tasks wait for it; absent from a kernel that doesn't say. */
  readonly pressure: Readonly<Record<'cpu' | 'memory' | 'io', PsiStats | undefined>>;
}

const KIBIBYTE = 1024n;
/** Interfaces that aren't the node's own (cAdvisor's ignoredDevicePrefixes). */
const FOREIGN_INTERFACE = /^(lo|veth|docker)/;

/** What the node has used of CPU until now: user, nice, system and interrupts, since waiting is no use. */
export function readNodeCpu(nowMs: number): CpuReading {
  const usedMs = cpus().reduce((sum, {times: {user, nice, sys, irq}}) => sum + user + nice + sys + irq, 0);
  return {timeNanos: BigInt(nowMs) * 1_000_000n, usedNanos: BigInt(usedMs) * 1_000_000n};
}

/** Reads /proc. Rejects with the system's error. */
export async function readNodeUsage(nowMs: number): Promise<NodeUsage> {
  const {timeNanos, usedNanos} = readNodeCpu(nowMs);
  const [memory, events, network, tasks, ...pressure] = await Promise.all([
    readFile('/proc/meminfo', 'utf8'),
    readFile('/proc/vmstat', 'utf8'),
    readFile('/proc/net/dev', 'utf8'),
    readTasks(),
    readPressure('cpu'),
    readPressure('memory'),
    readPressure('io'),
  ]);
  const bytes = (name: string): bigint => numberOf(memory, name) * KIBIBYTE;
  const total = bytes('MemTotal:');
  const used = total - bytes('MemFree:');
  const inactive = bytes('Inactive(file):');
  const [cpu, mem, io] = pressure;
  return {
    timeNanos,
    cpuNanos: usedNanos,
    memoryBytes: total,
    usedBytes: used,
    workingSetBytes: used > inactive ? used - inactive : 0n,
    anonymousBytes: bytes('AnonPages:'),
    pageFaults: numberOf(events, 'pgfault'),
    majorPageFaults: numberOf(events, 'pgmajfault'),
    swapTotalBytes: bytes('SwapTotal:'),
    swapFreeBytes: bytes('SwapFree:'),
    interfaces: interfacesOf(network),
    ...tasks,
    pressure: {cpu, memory: mem, io},
  };
}

/** The number after a line's first word; 0 without such a line. */
function numberOf(text: string, name: string): bigint {
  const line = text.split('\n').find((each) => each.startsWith(`${name} `) || each.startsWith(`${name}\t`));
  return BigInt(line?.split(/\s+/)[1] ?? '0');
}

/** The node's own interfaces in /proc/net/dev. */
export function interfacesOf(text: string): readonly InterfaceUsage[] {
  return text
    .split('\n')
    .slice(2)
    .flatMap((line) => {
      const [name = '', rest = ''] = line.split(':').map((part) => part.trim());
      if (name === '' || FOREIGN_INTERFACE.test(name)) return [];
      const numbers = rest.split(/\s+/).map((word) => BigInt(word));
      const at = (index: number): bigint => numbers[index] ?? 0n;
      return [{name, rxBytes: at(0), rxErrors: at(2), txBytes: at(8), txErrors: at(10)}];
    });
}

/** The lower of both limits on tasks, and the tasks of all processes (rlimit_stats_linux.go). */
async function readTasks(): Promise<Pick<NodeUsage, 'maxTasks' | 'tasks'>> {
  const [pidMax, threadsMax, load] = await Promise.all(
    ['/proc/sys/kernel/pid_max', '/proc/sys/kernel/threads-max', '/proc/loadavg'].map((path) =>
      readFile(path, 'utf8'),
    ),
  );
  const [pids, threads] = [pidMax, threadsMax].map((text = '0') => BigInt(text.trim()));
  const tasks = BigInt(/\/(\d+)/.exec(load ?? '')?.[1] ?? '0');
  return {maxTasks: (pids ?? 0n) < (threads ?? 0n) ? (pids ?? 0n) : (threads ?? 0n), tasks};
}

async function readPressure(resource: 'cpu' | 'memory' | 'io'): Promise<PsiStats | undefined> {
  try {
    return pressureOf(await readFile(`/proc/pressure/${resource}`, 'utf8'));
  } catch (error) {
    // A kernel without PSI, or one where it is turned off.
    if (isSystemCallError(error)) return undefined;
    throw error;
  }
}

const PRESSURE = /^(some|full) avg10=(\S+) avg60=(\S+) avg300=(\S+) total=(\d+)$/gm;

/** The kernel's own text of pressure stall information; undefined when it is none. Its totals are in microseconds. */
export function pressureOf(text: string): PsiStats | undefined {
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
