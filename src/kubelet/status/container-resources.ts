import {formatAmount} from '../../api/quantity.js';
import type {Container} from '../../api/v1.js';
import type {ResourceList, ResourceRequirements} from '../../api/v1-meta.js';
import type {ContainerStatus} from '../../api/v1-status.js';
import type {LinuxContainerResources} from '../../cri/index.js';
import type {RuntimeContainerStatus} from '../container/pod-status.js';
import {MIN_SHARES, sharesMilli} from '../kuberuntime/linux-resources.js';
import {cpuMilli} from '../kuberuntime/resource-amounts.js';

/** The milli-CPUs of the least quota (cm.MinMilliCPULimit). */
const MIN_LIMIT_MILLI = 10n;
const NANOS_PER_UNIT = 1_000_000_000n;
const NANOS_PER_MILLI = 1_000_000n;

/** What is known of an instance's resources beside what the runtime says. */
export interface KnownResources {
  /** As they were shown before. */
  readonly before?: ResourceRequirements | undefined;
  /** What it was last given. */
  readonly actuated?: ResourceRequirements | undefined;
}

/**
 * What a container may use and was granted. It was granted what it requests; what it may use is, while it runs, what
 * the runtime says of the resources that the kernel keeps, but only in a list that the container has; what the runtime
 * doesn't say is what it was last given, or as it was when this instance was seen last
 * (convertContainerStatusResources).
 */
export function resourcesOf(
  {resources = {}}: Container,
  {state, cri}: RuntimeContainerStatus,
  {before = {}, actuated = {}}: KnownResources = {},
): Pick<ContainerStatus, 'resources' | 'allocatedResources'> {
  const {limits, requests} = resources;
  if (state !== 'CONTAINER_RUNNING') return shown(limits, requests, requests);
  const actual = cri.resources?.linux;
  return shown(
    limits && {
      ...limits,
      ...kept(before.limits),
      ...given(limits, actuated.limits),
      ...(actual && actualLimits(actual, limits)),
    },
    requests && {
      ...requests,
      ...kept(before.requests),
      ...given(requests, actuated.requests),
      ...(actual && actualRequests(actual, requests)),
    },
    requests,
  );
}

function shown(
  limits: ResourceList | undefined,
  requests: ResourceList | undefined,
  allocatedResources: ResourceList | undefined,
): Pick<ContainerStatus, 'resources' | 'allocatedResources'> {
  return {
    resources: {...(isSaid(limits) && {limits}), ...(isSaid(requests) && {requests})},
    ...(isSaid(allocatedResources) && {allocatedResources}),
  };
}

function isSaid(list: ResourceList | undefined): list is ResourceList {
  return list !== undefined && Object.keys(list).length > 0;
}

/** What the container was given of what it is granted. */
function given(granted: ResourceList, {cpu, memory}: ResourceList = {}): ResourceList {
  return kept({
    ...(granted['cpu'] !== undefined && cpu !== undefined && {cpu}),
    ...(granted['memory'] !== undefined && memory !== undefined && {memory}),
  });
}

/** What was shown before of the resources that the kernel keeps. */
function kept({cpu, memory}: ResourceList = {}): ResourceList {
  return {...(cpu !== undefined && {cpu}), ...(memory !== undefined && {memory})};
}

function actualLimits(
  {cpuQuota, cpuPeriod, memoryLimitInBytes}: LinuxContainerResources,
  asked: ResourceList,
): ResourceList {
  const milli = cpuPeriod > 0n ? (cpuQuota * 1000n) / cpuPeriod : 0n;
  const nanos = memoryLimitInBytes * NANOS_PER_UNIT;
  return {
    ...actualCpu(milli, asked, MIN_LIMIT_MILLI),
    ...(nanos > 0n && {memory: formatAmount({nanos, format: 'BinarySI'})}),
  };
}

function actualRequests({cpuShares}: LinuxContainerResources, asked: ResourceList): ResourceList {
  return actualCpu(sharesMilli(cpuShares), asked, MIN_SHARES);
}

/** Of no more than the least that can be set, what was asked for says more than what was set. */
function actualCpu(milli: bigint, asked: ResourceList, least: bigint): ResourceList {
  if (milli <= 0n) return {};
  if (milli <= least && cpuMilli(asked) <= least) return kept({...(asked['cpu'] && {cpu: asked['cpu']})});
  return {cpu: formatAmount({nanos: milli * NANOS_PER_MILLI, format: 'DecimalSI'})};
}
