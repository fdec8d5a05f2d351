import {UsageError} from '../base/errors.js';
import type {Init, LinuxContainerResources} from '../cri/index.js';

/** The limits that a command line names; what is left out stays as it is. */
export interface ResourceChanges {
  readonly cpus?: number | undefined;
  readonly cpuPeriod?: number | undefined;
  readonly cpuQuota?: number | undefined;
  readonly cpuShares?: number | undefined;
  readonly cpusetCpus?: string | undefined;
  readonly cpusetMems?: string | undefined;
  readonly memoryBytes?: bigint | undefined;
  readonly oomScoreAdj?: number | undefined;
}

/** The kernel's period, for which a number of CPUs is a quota. */
const CPU_PERIOD_MICROS = 100_000;

/** What is sent to the runtime. Throws UsageError where changes contradict each other. */
export function changedResources(changes: ResourceChanges): Init<LinuxContainerResources> {
  const {cpus, cpuPeriod, cpuQuota, cpuShares, cpusetCpus, cpusetMems, memoryBytes, oomScoreAdj} = changes;
  if (cpus !== undefined && cpuQuota !== undefined)
    throw new UsageError('--cpus and --cpu-quota say the same; give one of them');
  const period = cpus === undefined ? cpuPeriod : (cpuPeriod ?? CPU_PERIOD_MICROS);
  const quota = cpus === undefined ? cpuQuota : Math.round(cpus * (period ?? CPU_PERIOD_MICROS));
  return {
    cpuPeriod: whole(period),
    cpuQuota: whole(quota),
    cpuShares: whole(cpuShares),
    memoryLimitInBytes: memoryBytes,
    oomScoreAdj: whole(oomScoreAdj),
    cpusetCpus,
    cpusetMems,
  };
}

function whole(value: number | undefined): bigint | undefined {
  return value === undefined ? undefined : BigInt(value);
}
