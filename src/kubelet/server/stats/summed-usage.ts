import type {ContainerStats, CpuUsage, MemoryUsage, SwapUsage, UInt64Value} from '../../../cri/index.js';

/** What containers use together. */
interface SummedUsage {
  readonly cpu: CpuUsage | undefined;
  readonly memory: MemoryUsage | undefined;
  readonly swap: SwapUsage | undefined;
}

/** The sums of what is told of containers, as of the newest time; undefined of which none tells (addCPUAndMemoryStats). */
export function summed(containers: readonly ContainerStats[]): SummedUsage {
  return {
    cpu: cpuOf(containers.flatMap(({cpu}) => cpu ?? [])),
    memory: memoryOf(containers.flatMap(({memory}) => memory ?? [])),
    swap: swapOf(containers.flatMap(({swap}) => swap ?? [])),
  };
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

/** Undefined when one of them isn't told: a part is no sum. */
function sum(values: readonly (UInt64Value | undefined)[]): UInt64Value | undefined {
  let total = 0n;
  for (const measured of values) {
    if (measured === undefined) return undefined;
    total += measured.value;
  }
  return {value: total};
}
