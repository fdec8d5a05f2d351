import {formatAmount} from '../../api/quantity.js';
import type {ResourceList, ResourceRequirements} from '../../api/types/v1-meta.js';
import type {LinuxContainerResources} from '../../cri/index.js';
import {omitUnset} from './omit-unset.js';

const NANOS = 1_000_000_000n;
/** Number of CPU shares of a container without a request. */
const LEAST_SHARES = 2;
/** Period of a container without one, in microseconds. */
const DEFAULT_PERIOD = 100_000n;

/** Returns the requests and limits for cgroup values; memory requests have none. */
export function generateResources(resources: LinuxContainerResources): ResourceRequirements {
  const {cpuShares, memoryLimitInBytes, hugepageLimits} = resources;
  const pages = hugepageLimits.filter(({limit}) => limit > 0n);
  const limits = omitUnset<ResourceList>({
    cpu: cpuLimit(resources),
    memory: memoryLimitInBytes > 0n ? formatBytes(memoryLimitInBytes) : undefined,
    ...Object.fromEntries(
      pages.map(({pageSize, limit}) => [`hugepages-${pageSize.replace(/B$/, 'i')}`, formatBytes(limit)]),
    ),
  });
  const request = cpuRequest(Number(cpuShares), limits['cpu'] !== undefined);
  const requests = request === undefined || request === limits['cpu'] ? {} : {cpu: request};
  return omitUnset<ResourceRequirements>({limits, requests});
}

function cpuLimit({cpuQuota, cpuPeriod}: LinuxContainerResources): string | undefined {
  if (cpuQuota <= 0n) return undefined;
  const nanos = (cpuQuota * NANOS) / (cpuPeriod > 0n ? cpuPeriod : DEFAULT_PERIOD);
  return formatAmount({nanos, format: 'DecimalSI'});
}

/** Returns the CPU request for shares; a container with a limit has that as its request unless there is another. */
function cpuRequest(shares: number, hasLimit: boolean): string | undefined {
  if (shares <= LEAST_SHARES) return hasLimit && shares === LEAST_SHARES ? '0' : undefined;
  const milli = BigInt(Math.round((shares * 1000) / 1024));
  return formatAmount({nanos: (milli * NANOS) / 1000n, format: 'DecimalSI'});
}

function formatBytes(bytes: bigint): string {
  return formatAmount({nanos: bytes * NANOS, format: 'BinarySI'});
}
