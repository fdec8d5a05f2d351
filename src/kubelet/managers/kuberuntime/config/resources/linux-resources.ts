import type {Container, Pod} from '../../../../../api/types/v1-pod.js';
import type {Quantity, ResourceList} from '../../../../../api/types/v1-meta.js';
import type {Init, LinuxContainerResources} from '../../../../../cri/index.js';
import type {CgroupLimits} from '../../../../contract/resources/cgroup-limits.js';
import type {NodeFacts} from '../../../../contract/node-facts.js';
import {DEFAULT_CONTAINER_POLICY} from '../../../../contract/resources/container-policy.js';
import {milliCpuToShares, sharesToMilliCpu} from '../../../../resources/cpu-shares.js';
import {oomScoreAdj} from './oom-score.js';
import {cpuMilli, effectiveLimit, memoryBytes, podResources} from '../../../../resources/resource-amounts.js';
import {hugePageAmounts} from '../../../../resources/huge-pages.js';

/** Minimum CFS quota that the kernel accepts, in µs per period. */
const MIN_QUOTA = 1000n;

/** Returns the CFS quota for a number of milli-CPUs, in µs per period; 0 means no limit (milliCPUToQuota). */
export function milliCpuToQuota(milli: bigint, periodMicros: bigint): bigint {
  if (milli === 0n) return 0n;
  const quota = (milli * periodMicros) / 1000n;
  return quota < MIN_QUOTA ? MIN_QUOTA : quota;
}

/** Properties of a node that the resources of all containers and sandboxes depend on. */
type LimitFacts = Pick<NodeFacts, 'cgroup' | 'containerPolicy'>;

/** Input of linuxResources. The request is undefined, not 0, if none is specified. */
interface LinuxResourcesInput {
  readonly cpuRequest: Quantity | undefined;
  readonly limits: ResourceList;
}

/** Returns the CPU and memory settings of a container or sandbox (calculateLinuxResources). */
function linuxResources(
  {cpuRequest, limits}: LinuxResourcesInput,
  {cgroup, containerPolicy = DEFAULT_CONTAINER_POLICY}: LimitFacts,
): Init<LinuxContainerResources> {
  const {enforcesCpuLimits, cpuPeriodMicros: cpuPeriod, singleProcessOomKill} = containerPolicy;
  return {
    // Without a request, the limit is used.
    cpuShares: milliCpuToShares(cpuMilli(cpuRequest === undefined ? limits : {cpu: cpuRequest})),
    ...(enforcesCpuLimits && {cpuPeriod, cpuQuota: milliCpuToQuota(cpuMilli(limits), cpuPeriod)}),
    memoryLimitInBytes: memoryBytes(limits),
    // The OOM killer kills all processes of the container, so that it does not continue without some of them.
    ...(cgroup.version === 2 && !singleProcessOomKill && {unified: {'memory.oom.group': '1'}}),
  };
}

/** Returns the total resources of a sandbox's containers (calculateSandboxResources). */
export function linuxSandboxResources(pod: Pod, node: LimitFacts): Init<LinuxContainerResources> {
  const cpuRequest = podResources(pod, 'requests')['cpu'];
  return linuxResources({cpuRequest, limits: podResources(pod, 'limits')}, node);
}

/**
 * Returns the pod overhead of the sandbox (convertOverheadToLinuxResources); empty unless a RuntimeClass defines one.
 */
export function linuxOverheadResources(pod: Pod, node: LimitFacts): Init<LinuxContainerResources> {
  const {overhead} = pod.spec;
  return overhead === undefined ? {} : linuxResources({cpuRequest: overhead['cpu'], limits: overhead}, node);
}

/**
 * Returns the resources of an UpdatePodSandboxResources request: the limits of the pod's cgroup without the pod
 * overhead (generateUpdatePodSandboxResourcesRequest).
 */
export function updatedSandboxResources(
  {spec: {overhead = {}}}: Pod,
  {cpuShares: shares, cpuQuota: quota, memoryBytes: memory}: Partial<CgroupLimits>,
): Init<LinuxContainerResources> {
  const cpu = cpuMilli(overhead);
  return {
    ...(shares !== undefined && {
      cpuShares: cpu === 0n ? shares : milliCpuToShares(sharesToMilliCpu(shares) - cpu),
    }),
    ...(quota && {cpuPeriod: quota.period, cpuQuota: quota.quota - milliCpuToQuota(cpu, quota.period)}),
    ...(memory !== undefined && {memoryLimitInBytes: memory - memoryBytes(overhead)}),
  };
}

/** Returns the resources of a container (generateLinuxContainerResources). */
export function linuxContainerResources(
  pod: Pod,
  container: Container,
  node: LimitFacts & Pick<NodeFacts, 'memoryBytes' | 'hugePageSizes'>,
): Init<LinuxContainerResources> {
  const {requests, limits = {}} = container.resources ?? {};
  const input = {
    cpuRequest: requests?.['cpu'],
    limits: {
      cpu: effectiveLimit('cpu', limits, pod.spec.resources),
      memory: effectiveLimit('memory', limits, pod.spec.resources),
    },
  };
  return {
    ...linuxResources(input, node),
    oomScoreAdj: oomScoreAdj(pod, container, node.memoryBytes),
    hugepageLimits: Array.from(
      hugePageAmounts({...pod.spec.resources?.limits, ...limits}, node.hugePageSizes),
      ([pageSize, limit]) => ({pageSize, limit}),
    ),
  };
}
