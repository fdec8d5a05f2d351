import type {ContainerStats} from '../../../../cri/index.js';
import type {CgroupUsage} from './cgroup-usage.js';

/** Usage of a cgroup in the terms of the CRI. */
export type CgroupStats = Required<Pick<ContainerStats, 'cpu' | 'memory' | 'swap' | 'io'>>;

/**
 * Returns the usage of a cgroup as a runtime would report it (cadvisorInfoToCPUandMemoryStats,
 * cadvisorInfoToSwapStats). Without pressure stall information, the pressure is 0, as in a kubelet.
 */
export function cgroupStats({timeNanos: timestamp, cpu, memory, ioPressure}: CgroupUsage): CgroupStats {
  const value = (measured: bigint): {readonly value: bigint} => ({value: measured});
  const workingSet = memory === undefined ? 0n : subtract(memory.usage, memory.inactiveFile);
  return {
    cpu: {timestamp, usageCoreNanoSeconds: value(cpu?.usageNanos ?? 0n), psi: cpu?.psi ?? NO_PRESSURE},
    memory: memory && {
      timestamp,
      ...(memory.limit > 0n && {availableBytes: value(subtract(memory.limit, workingSet))}),
      usageBytes: value(memory.usage),
      workingSetBytes: value(workingSet),
      rssBytes: value(memory.rss),
      pageFaults: value(memory.pageFaults),
      majorPageFaults: value(memory.majorPageFaults),
      psi: memory.psi ?? NO_PRESSURE,
    },
    swap: memory && {
      timestamp,
      ...(memory.swapLimit > 0n && {swapAvailableBytes: value(subtract(memory.swapLimit, memory.swap))}),
      swapUsageBytes: value(memory.swap),
    },
    io: {timestamp, psi: ioPressure ?? NO_PRESSURE},
  };
}

const NO_PRESSURE = {};

function subtract(from: bigint, subtracted: bigint): bigint {
  return from > subtracted ? from - subtracted : 0n;
}
