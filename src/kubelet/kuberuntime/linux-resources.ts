import {quantityValue} from '../../api/quantity.js';
import {isHugePageResource} from '../../api/resource-list.js';
import type {Container, Pod} from '../../api/v1.js';
import type {Quantity, ResourceList} from '../../api/v1-meta.js';
import type {HugepageLimit, Init, LinuxContainerResources} from '../../cri/index.js';
import type {CgroupLimits} from '../container/cgroup-limits.js';
import type {CgroupFacts, NodeFacts} from '../container/node.js';
import {oomScoreAdj} from './oom-score.js';
import {cpuMilli, limitOf, memoryBytes, podResources} from './resource-amounts.js';

/** The least CPU weight that the kernel takes. */
export const MIN_SHARES = 2n;
const MAX_SHARES = 262_144n;
/** The CFS period in µs (--cpu-cfs-quota-period). */
export const CPU_PERIOD = 100_000n;
/** The least quota in a period that the kernel takes. */
const MIN_QUOTA = 1000n;

/** cgroup v1's weight of so many milli-CPUs (MilliCPUToShares). */
export function cpuShares(milli: bigint): bigint {
  const shares = (milli * 1024n) / 1000n;
  if (shares < MIN_SHARES) return MIN_SHARES;
  return shares > MAX_SHARES ? MAX_SHARES : shares;
}

/** The CFS quota in µs a period of so many milli-CPUs; 0 = no limit (milliCPUToQuota). */
export function cpuQuota(milli: bigint): bigint {
  if (milli === 0n) return 0n;
  const quota = (milli * CPU_PERIOD) / 1000n;
  return quota < MIN_QUOTA ? MIN_QUOTA : quota;
}

/** What calculateLinuxResources starts from; the request is absent, not 0, when nobody names one. */
interface Demand {
  readonly cpuRequest: Quantity | undefined;
  readonly limits: ResourceList;
}

/** CPU and memory of a container or sandbox (calculateLinuxResources). */
function linuxResources({cpuRequest, limits}: Demand, cgroup: CgroupFacts): Init<LinuxContainerResources> {
  return {
    // Without a request the limit counts as one.
    cpuShares: cpuShares(cpuMilli(cpuRequest === undefined ? limits : {cpu: cpuRequest})),
    cpuPeriod: CPU_PERIOD,
    cpuQuota: cpuQuota(cpuMilli(limits)),
    memoryLimitInBytes: memoryBytes(limits),
    // One process out of memory ends its whole container, so that none runs on half dead.
    ...(cgroup.version === 2 ? {unified: {'memory.oom.group': '1'}} : {}),
  };
}

/** The resources that a sandbox is told its containers will have together (calculateSandboxResources). */
export function sandboxResources(pod: Pod, cgroup: CgroupFacts): Init<LinuxContainerResources> {
  const cpuRequest = podResources(pod, 'requests')['cpu'];
  return linuxResources({cpuRequest, limits: podResources(pod, 'limits')}, cgroup);
}

/**
 * The resources that the sandbox itself takes beside its containers (convertOverheadToLinuxResources): empty,
 * unless a RuntimeClass gave the Pod some.
 */
export function overheadResources(pod: Pod, cgroup: CgroupFacts): Init<LinuxContainerResources> {
  const {overhead} = pod.spec;
  return overhead === undefined
    ? {}
    : linuxResources({cpuRequest: overhead['cpu'], limits: overhead}, cgroup);
}

/**
 * What a sandbox is told when its pod's cgroup changes: the cgroup's limits without what the sandbox itself takes
 * (generateUpdatePodSandboxResourcesRequest).
 */
export function sandboxResourcesOf(
  {spec: {overhead = {}}}: Pod,
  {cpuShares: shares, cpuQuota: quota, memoryBytes: memory}: Partial<CgroupLimits>,
): Init<LinuxContainerResources> {
  const cpu = cpuMilli(overhead);
  return {
    ...(shares !== undefined && {cpuShares: cpu === 0n ? shares : cpuShares(sharesMilli(shares) - cpu)}),
    ...(quota && {cpuPeriod: quota.period, cpuQuota: quota.quota - cpuQuota(cpu)}),
    ...(memory !== undefined && {memoryLimitInBytes: memory - memoryBytes(overhead)}),
  };
}

/** The least milli-CPUs that have so many shares, or more (sharesToMilliCPU). */
export function sharesMilli(shares: bigint): bigint {
  return shares < MIN_SHARES ? 0n : (shares * 1000n + 1023n) / 1024n;
}

/** A container's resources (generateLinuxContainerResources). */
export function containerResources(
  pod: Pod,
  container: Container,
  node: Pick<NodeFacts, 'cgroup' | 'memoryBytes' | 'hugePageSizes'>,
): Init<LinuxContainerResources> {
  const {requests, limits = {}} = container.resources ?? {};
  const demand = {
    cpuRequest: requests?.['cpu'],
    limits: {
      cpu: limitOf('cpu', limits, pod.spec.resources),
      memory: limitOf('memory', limits, pod.spec.resources),
    },
  };
  return {
    ...withoutSwap(linuxResources(demand, node.cgroup), node.cgroup),
    oomScoreAdj: oomScoreAdj(pod, container, node.memoryBytes),
    hugepageLimits: hugepageLimits({...pod.spec.resources?.limits, ...limits}, node.hugePageSizes),
  };
}

/** Forbids swap where the kernel can (swapConfigurationHelper ConfigureNoSwap). */
function withoutSwap(
  resources: Init<LinuxContainerResources>,
  {version, swapAccounting}: CgroupFacts,
): Init<LinuxContainerResources> {
  if (!swapAccounting) return resources;
  return version === 1
    ? {...resources, memorySwapLimitInBytes: resources.memoryLimitInBytes}
    : {...resources, unified: {...resources.unified, 'memory.swap.max': '0'}};
}

/** A limit for every size of the node, 0 for those that nobody asks for (GetHugepageLimitsFromResources). */
function hugepageLimits(limits: ResourceList, sizes: readonly string[]): readonly Init<HugepageLimit>[] {
  const asked = new Map(
    Object.entries(limits)
      .filter(([name]) => isHugePageResource(name))
      .map(([name, quantity]) => [hugePageSizeName(name), quantityValue(quantity)]),
  );
  return sizes.map((pageSize) => ({pageSize, limit: asked.get(pageSize) ?? 0n}));
}

const SIZE_UNITS = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'] as const;

/** The size of a resource such as `hugepages-2Mi` in the kernel's words, `2MB` (HugePageUnitSizeFromByteSize). */
export function hugePageSizeName(resource: string): string {
  let size = quantityValue(resource.slice('hugepages-'.length));
  let unit = 0;
  while (size >= 1024n && size % 1024n === 0n && unit < SIZE_UNITS.length - 1) {
    size /= 1024n;
    unit += 1;
  }
  return `${size}${SIZE_UNITS[unit] ?? ''}`;
}
