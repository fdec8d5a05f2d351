import {formatAmount} from '../../../../api/quantity.js';
import type {ResourceList} from '../../../../api/types/v1-meta.js';
import type {Pod} from '../../../../api/types/v1-pod.js';
import {hasEnded, type PodStatus} from '../../../../api/types/v1-status.js';
import type {NodeFacts} from '../../../contract/node-facts.js';
import type {CgroupLimits} from '../../../contract/resources/cgroup-limits.js';
import {cpuSharesToCpuWeight, MIN_CPU_SHARES, sharesToMilliCpu} from '../../../resources/cpu-shares.js';
import type {PodAllocation} from '../../../contract/resources/actuated-resources.js';
import {withActuatedResources} from '../../../managers/kuberuntime/compute/compute-resize-actions.js';
import {podCgroupLimits} from '../../../managers/kuberuntime/config/resources/pod-cgroup-limits.js';
import {cpuMilli, podLimits, podRequests} from '../../../resources/resource-amounts.js';
import {isStaticPod} from '../../../sources/static-pod.js';

/** CPU limit of the smallest quota, in milli-CPUs (cm.MinMilliCPULimit). */
export const MIN_LIMIT_MILLI = 10n;
const NANOS_PER_UNIT = 1_000_000_000n;
const NANOS_PER_MILLI = 1_000_000n;

/** Input of {@link computePodResources}. */
export interface PodResourcesInput {
  readonly pod: Pod;
  /** Previous status of the pod. */
  readonly previous: PodStatus | undefined;
  /** Resources last actuated; those of the Pod when unknown. */
  readonly actuated?: PodAllocation | undefined;
  readonly node: Partial<Pick<NodeFacts, 'cgroup' | 'cgroupMount'>>;
}

type Resources = NonNullable<PodStatus['resources']>;
type PodResources = Pick<PodStatus, 'resources' | 'allocatedResources'>;

/**
 * Returns the pod-level resources, overhead included, and the allocated ones, which always equal the requests. Once the
 * API server knows that the pod runs, its resources are those of its cgroup, and what the cgroup does not have is that
 * of the previous status (convertToAPIPodLevelResourcesStatus). The last status of a pod keeps them.
 */
export function computePodResources(input: PodResourcesInput): PodResources {
  const {pod, previous} = input;
  const requests = podRequests(pod);
  const stored: PodStatus = isStaticPod(pod) ? {} : (pod.status ?? {});
  const own = withoutEmpty({requests, limits: podLimits(pod)});
  const lasting = hasEnded(stored.phase) ? (stored.resources ?? own) : own;
  return {
    resources:
      stored.phase === 'Running'
        ? runningResources(input, previous?.phase === undefined ? stored : previous)
        : lasting,
    ...(isNotEmpty(requests) && {allocatedResources: requests}),
  };
}

function runningResources(input: PodResourcesInput, previous: PodStatus): Resources {
  const {pod} = input;
  const before = previous.resources ?? {};
  if (hasEnded(previous.phase)) return before;
  const {requests = {}, limits = {}} = pod.spec.resources ?? {};
  const cgroup = cgroupResources(input);
  return withoutEmpty({
    requests: {
      ...named('memory', podRequests(pod)),
      ...requests,
      ...named('memory', before.requests),
      ...(cgroup.requestMilli === undefined
        ? named('cpu', before.requests)
        : preciseCpu(cgroup.requestMilli, requests, MIN_CPU_SHARES)),
    },
    limits: {
      ...limits,
      ...(cgroup.limitMilli === undefined
        ? named('cpu', before.limits)
        : preciseCpu(cgroup.limitMilli, limits, MIN_LIMIT_MILLI)),
      ...(cgroup.memory === undefined ? named('memory', before.limits) : {memory: cgroup.memory}),
    },
  });
}

/** Amounts that the pod's cgroup has; undefined for no limit, or if the pod has no cgroup. */
interface CgroupResources {
  readonly requestMilli?: bigint | undefined;
  readonly limitMilli?: bigint | undefined;
  readonly memory?: string | undefined;
}

/** Returns the resources of the pod's cgroup, as they are written and read again. */
function cgroupResources({pod, actuated, node}: PodResourcesInput): CgroupResources {
  if (node.cgroup === undefined || node.cgroupMount === undefined) return {};
  const limits = podCgroupLimits(withActuatedResources(pod, actuated), NO_OTHER_LIMITS);
  const {cpuShares, cpuQuota, memoryBytes = 0n} = limits;
  return {
    requestMilli: sharesToMilliCpu(node.cgroup.version === 2 ? readShares(cpuShares) : cpuShares),
    limitMilli: quotaMilli(cpuQuota),
    ...(memoryBytes > 0n && {
      memory: formatAmount({nanos: memoryBytes * NANOS_PER_UNIT, format: 'BinarySI'}),
    }),
  };
}

const NO_OTHER_LIMITS = {hugePageSizes: [], podPidsLimit: undefined};

/** Returns the shares that a kubelet reads from a cgroup v2 to which it wrote shares (cpuWeightToCPUShares). */
function readShares(shares: bigint): bigint {
  return ((cpuSharesToCpuWeight(shares) - 1n) * 262_142n) / 9999n + 2n;
}

function quotaMilli(cpuQuota: CgroupLimits['cpuQuota']): bigint | undefined {
  if (cpuQuota === undefined) return undefined;
  const milli = (cpuQuota.quota * 1000n) / cpuQuota.period;
  return milli > 0n ? milli : undefined;
}

/** Returns the CPU of the cgroup, unless it and the requested amount are at or below the minimum. */
function preciseCpu(milli: bigint, asked: ResourceList, least: bigint): ResourceList {
  if (milli <= least && cpuMilli(asked) <= least) return named('cpu', asked);
  return {cpu: formatAmount({nanos: milli * NANOS_PER_MILLI, format: 'DecimalSI'})};
}

function named(name: 'cpu' | 'memory', list: ResourceList = {}): ResourceList {
  const quantity = list[name];
  return quantity === undefined ? {} : {[name]: quantity};
}

function withoutEmpty({requests, limits}: Record<'requests' | 'limits', ResourceList>): Resources {
  return {...(isNotEmpty(requests) && {requests}), ...(isNotEmpty(limits) && {limits})};
}

function isNotEmpty(list: ResourceList): boolean {
  return Object.keys(list).length > 0;
}
