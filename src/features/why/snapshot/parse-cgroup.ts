import type {CpuFacts, MemoryFacts} from './pod-snapshot.js';

/** Files with the limits and the usage of a cgroup. */
export interface CgroupFiles {
  readonly memoryLimit: string;
  readonly memoryUsage: string;
  readonly memoryPeak: string;
  readonly memoryStat: string;
  readonly cpuStat: string;
  /** Name in memoryStat of the inactive file pages. */
  readonly inactiveFile: string;
}

/** Returns the files of the cgroup of a process, given its `/proc/PID/cgroup`; undefined if it names no cgroup. */
export function cgroupFilesOf(mount: string, text: string): CgroupFiles | undefined {
  const paths = new Map(
    text.split('\n').flatMap((line) => {
      const [, controllers = '', path] = /^\d+:([^:]*):(.+)$/.exec(line) ?? [];
      return path === undefined ? [] : controllers.split(',').map((name) => [name, path] as const);
    }),
  );
  const [memory, cpu, unified] = ['memory', 'cpu', ''].map((name) => paths.get(name));
  if (memory !== undefined) return version1(`${mount}/memory${memory}`, `${mount}/cpu${cpu ?? memory}`);
  return unified === undefined ? undefined : version2(`${mount}${unified}`);
}

function version1(memory: string, cpu: string): CgroupFiles {
  return {
    memoryLimit: `${memory}/memory.limit_in_bytes`,
    memoryUsage: `${memory}/memory.usage_in_bytes`,
    memoryPeak: `${memory}/memory.max_usage_in_bytes`,
    memoryStat: `${memory}/memory.stat`,
    cpuStat: `${cpu}/cpu.stat`,
    inactiveFile: 'total_inactive_file',
  };
}

function version2(directory: string): CgroupFiles {
  return {
    memoryLimit: `${directory}/memory.max`,
    memoryUsage: `${directory}/memory.current`,
    memoryPeak: `${directory}/memory.peak`,
    memoryStat: `${directory}/memory.stat`,
    cpuStat: `${directory}/cpu.stat`,
    inactiveFile: 'inactive_file',
  };
}

/** Limits from this size on mean none: the kernel of cgroup v1 shows the largest number of pages. */
const UNLIMITED = 2 ** 62;

/** Returns the memory of a cgroup with a limit; undefined without one. */
export function parseMemory(
  texts: Pick<Record<keyof CgroupFiles, string>, 'memoryLimit' | 'memoryUsage' | 'memoryStat'>,
  inactiveFile: string,
  peak: string,
): MemoryFacts | undefined {
  const limit = Number(texts.memoryLimit.trim());
  const usage = Number(texts.memoryUsage.trim());
  if (!Number.isFinite(limit) || !Number.isFinite(usage) || limit >= UNLIMITED) return undefined;
  const workingSet = Math.max(usage - (keyedNumber(texts.memoryStat, inactiveFile) ?? 0), 0);
  const highest = Number(peak.trim());
  return {limit, workingSet, ...(peak !== '' && Number.isFinite(highest) && {peak: highest})};
}

/** Returns the periods of the CPU limit of a cgroup; undefined without one. */
export function parseCpu(stat: string): CpuFacts | undefined {
  const periods = keyedNumber(stat, 'nr_periods') ?? 0;
  return periods === 0 ? undefined : {periods, throttledPeriods: keyedNumber(stat, 'nr_throttled') ?? 0};
}

function keyedNumber(text: string, key: string): number | undefined {
  const value = new RegExp(`^${key} (\\d+)$`, 'm').exec(text)?.[1];
  return value === undefined ? undefined : Number(value);
}
