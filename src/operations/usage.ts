import type {ContainerStats, PodSandboxStats} from '../cri/index.js';

/**
 * The CPU that was used between two samples, in per cent of one core; or why there is none: it wasn't there at
 * the first sample, or the runtime has not measured again since.
 */
export type CpuPercent = number | 'new' | 'stale';

/** What an object used between two samples, and has at the second. */
export interface Usage<T> {
  readonly stats: T;
  readonly cpuPercent: CpuPercent;
  /** The working set. */
  readonly memoryBytes: bigint;
  /** Has used nothing so far: nothing of it runs. */
  readonly idle: boolean;
}

interface Counters {
  readonly id: string;
  readonly cpuNanos: bigint;
  readonly memoryBytes: bigint;
  readonly timestamp: bigint;
}

/** The usage of containers from two samples, in the order of the second. */
export function containerUsage(
  before: readonly ContainerStats[],
  after: readonly ContainerStats[],
): readonly Usage<ContainerStats>[] {
  return usageOf(before, after, (stats) => counters(stats.attributes?.id, stats));
}

/** The usage of sandboxes from two samples, in the order of the second. */
export function sandboxUsage(
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
