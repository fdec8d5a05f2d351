import {UsageError} from '../../base/errors.js';
import type {Init, LinuxContainerResources} from '../../cri/index.js';

/** Resource limits to change; omitted ones stay unchanged. */
export interface ResourceChanges {
  readonly cpus?: number | undefined;
  readonly cpuPeriod?: bigint | undefined;
  readonly cpuQuota?: bigint | undefined;
  readonly cpuShares?: bigint | undefined;
  readonly cpusetCpus?: string | undefined;
  readonly cpusetMems?: string | undefined;
  readonly memoryBytes?: bigint | undefined;
  readonly oomScoreAdj?: bigint | undefined;
}

/** The kernel's default CFS period, for which a number of CPUs is converted to a quota. */
const CPU_PERIOD_MICROS = 100_000n;

/** Returns the resources to send to the runtime. Throws UsageError for contradicting changes. */
export function buildResourceUpdate(changes: ResourceChanges): Init<LinuxContainerResources> {
  const {cpus, cpuPeriod, cpuQuota, cpuShares, cpusetCpus, cpusetMems, memoryBytes, oomScoreAdj} = changes;
  if (cpus !== undefined && cpuQuota !== undefined)
    throw new UsageError('--cpus and --cpu-quota are mutually exclusive');
  const period = cpus === undefined ? cpuPeriod : (cpuPeriod ?? CPU_PERIOD_MICROS);
  const quota =
    cpus === undefined ? cpuQuota : BigInt(Math.round(cpus * Number(period ?? CPU_PERIOD_MICROS)));
  return {
    cpuPeriod: period,
    cpuQuota: quota,
    cpuShares,
    memoryLimitInBytes: memoryBytes,
    oomScoreAdj,
    cpusetCpus,
    cpusetMems,
  };
}
