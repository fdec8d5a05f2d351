import type {ContainerStats, CpuUsage, MemoryUsage, SwapUsage, UInt64Value} from '../../../cri/index.js';

/** Total usage of containers. */
interface SummedUsage {
  readonly cpu: CpuUsage | undefined;
  readonly memory: MemoryUsage | undefined;
  readonly swap: SwapUsage | undefined;
}

/**
 * Sums the usage of containers, with the newest timestamp; a resource that no container reports is undefined
 * (addCPUAndMemoryStats).
 */
export function sumUsage(containers: readonly ContainerStats[]): SummedUsage {
  return {
    cpu: cpuOf(containers.flatMap(({cpu}) => cpu ?? [])),
    memory: memoryOf(containers.flatMap(({memory}) => memory ?? [])),
    swap: swapOf(containers.flatMap(({swap}) => swap ?? [])),
  };
}

/**
 * Returns the swap of a container; none, as a kubelet reports it, if the runtime does not report any
 * (makeContainerCPUAndMemoryStats).
 */
export function containerSwap({swap, cpu}: Pick<ContainerStats, 'cpu' | 'swap'>): SwapUsage | undefined {
  if (swap !== undefined || cpu === undefined) return swap;
  return {timestamp: cpu.timestamp, swapAvailableBytes: {value: 0n}, swapUsageBytes: {value: 0n}};
}

/** Returns the swap of a pod; none if neither the runtime nor its containers report any. */
export function podSwap({swap, cpu}: Pick<ContainerStats, 'cpu' | 'swap'>): SwapUsage | undefined {
  if (swap !== undefined || cpu === undefined) return swap;
  return {timestamp: cpu.timestamp, swapUsageBytes: {value: 0n}};
}

function cpuOf(all: readonly CpuUsage[]): CpuUsage | undefined {
  if (all.length === 0) return undefined;
  return {
    timestamp: newest(all),
    usageCoreNanoSeconds: sum(all.map((cpu) => cpu.usageCoreNanoSeconds)),
    usageNanoCores: sum(all.map((cpu) => cpu.usageNanoCores)),
  };
}

function memoryOf(all: readonly MemoryUsage[]): MemoryUsage | undefined {
  if (all.length === 0) return undefined;
  return {
    timestamp: newest(all),
    workingSetBytes: sum(all.map((memory) => memory.workingSetBytes)),
    availableBytes: sum(all.map((memory) => memory.availableBytes)),
    usageBytes: sum(all.map((memory) => memory.usageBytes)),
    rssBytes: sum(all.map((memory) => memory.rssBytes)),
    pageFaults: sum(all.map((memory) => memory.pageFaults)),
    majorPageFaults: sum(all.map((memory) => memory.majorPageFaults)),
  };
}

function swapOf(all: readonly SwapUsage[]): SwapUsage | undefined {
  if (all.length === 0) return undefined;
  return {
    timestamp: newest(all),
    swapAvailableBytes: sum(all.map((swap) => swap.swapAvailableBytes)),
    swapUsageBytes: sum(all.map((swap) => swap.swapUsageBytes)),
  };
}

function newest(all: readonly {readonly timestamp: bigint}[]): bigint {
  return all.reduce((latest, {timestamp}) => (timestamp > latest ? timestamp : latest), 0n);
}

/** Returns the sum, or undefined if a value is missing, because a partial sum would be wrong. */
function sum(values: readonly (UInt64Value | undefined)[]): UInt64Value | undefined {
  let total = 0n;
  for (const item of values) {
    if (item === undefined) return undefined;
    total += item.value;
  }
  return {value: total};
}
