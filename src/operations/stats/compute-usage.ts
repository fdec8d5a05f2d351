import type {ContainerStats, PodSandboxStats} from '../../cri/index.js';

/**
 * CPU usage between two samples in percent of one core; `new` if the object was not in the first sample, `stale` if
 * the runtime has not measured again since.
 */
export type CpuPercent = number | 'new' | 'stale';

/** Usage of an object between two samples, with its stats of the second one. */
export interface Usage<T> {
  readonly stats: T;
  readonly cpuPercent: CpuPercent;
  /** Working set in bytes. */
  readonly memoryBytes: bigint;
  /** True if it has used no CPU and memory: none of its processes run. */
  readonly idle: boolean;
}

interface Counters {
  readonly id: string;
  readonly cpuNanos: bigint;
  readonly memoryBytes: bigint;
  readonly timestamp: bigint;
}

/** Returns the usage of containers between two samples, in the order of the second. */
export function computeContainerUsage(
  before: readonly ContainerStats[],
  after: readonly ContainerStats[],
): readonly Usage<ContainerStats>[] {
  return usageOf(before, after, (stats) => counters(stats.attributes?.id, stats));
}

/** Returns the usage of sandboxes between two samples, in the order of the second. */
export function computeSandboxUsage(
  before: readonly PodSandboxStats[],
  after: readonly PodSandboxStats[],
): readonly Usage<PodSandboxStats>[] {
  return usageOf(before, after, ({attributes, linux, windows}) => counters(attributes?.id, linux ?? windows));
}

interface Measures {
  readonly cpu?:
    | {readonly timestamp: bigint; readonly usageCoreNanoSeconds?: {readonly value: bigint} | undefined}
    | undefined;
  readonly memory?: {readonly workingSetBytes?: {readonly value: bigint} | undefined} | undefined;
}

function counters(id = '', {cpu, memory}: Measures = {}): Counters {
  return {
    id,
    cpuNanos: cpu?.usageCoreNanoSeconds?.value ?? 0n,
    memoryBytes: memory?.workingSetBytes?.value ?? 0n,
    timestamp: cpu?.timestamp ?? 0n,
  };
}

function usageOf<T>(
  before: readonly T[],
  after: readonly T[],
  countersOf: (stats: T) => Counters,
): readonly Usage<T>[] {
  const earlier = new Map(before.map(countersOf).map((old) => [old.id, old]));
  return after.map((stats) => {
    const now = countersOf(stats);
    const {memoryBytes, cpuNanos} = now;
    return {
      stats,
      cpuPercent: cpuPercent(earlier.get(now.id), now),
      memoryBytes,
      idle: cpuNanos === 0n && memoryBytes === 0n,
    };
  });
}

function cpuPercent(old: Counters | undefined, now: Counters): CpuPercent {
  if (old === undefined) return 'new';
  if (now.cpuNanos === 0n) return 0;
  const nanos = now.timestamp - old.timestamp;
  return nanos === 0n ? 'stale' : (Number(now.cpuNanos - old.cpuNanos) / Number(nanos)) * 100;
}
