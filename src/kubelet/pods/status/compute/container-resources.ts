import {formatAmount} from '../../../../api/quantity.js';
import type {Container} from '../../../../api/types/v1-pod.js';
import type {ResourceList, ResourceRequirements} from '../../../../api/types/v1-meta.js';
import type {ContainerStatus} from '../../../../api/types/v1-status.js';
import type {LinuxContainerResources} from '../../../../cri/index.js';
import type {RuntimeContainerStatus} from '../../../contract/runtime-pod-status.js';
import {MIN_CPU_SHARES, sharesToMilliCpu} from '../../../resources/cpu-shares.js';
import {cpuMilli} from '../../../resources/resource-amounts.js';
import {MIN_LIMIT_MILLI} from './pod-resources.js';

const NANOS_PER_UNIT = 1_000_000_000n;
const NANOS_PER_MILLI = 1_000_000n;

/** Known resources of an instance in addition to those the runtime reports. */
export interface KnownResources {
  /** Resources in the previous status. */
  readonly before?: ResourceRequirements | undefined;
  /** Resources that were last actuated. */
  readonly actuated?: ResourceRequirements | undefined;
}

/**
 * Returns the resources and allocated resources of a container. The allocated resources are its requests. The
 * resources of a running container are those that the runtime reports, only in lists that the container has; for CPU
 * and memory that the runtime does not report they are those last actuated, else those of the previous status of this
 * instance (convertContainerStatusResources).
 */
export function computeContainerResources(
  {resources = {}}: Container,
  {state, cri}: RuntimeContainerStatus,
  {before = {}, actuated = {}}: KnownResources = {},
): Pick<ContainerStatus, 'resources' | 'allocatedResources'> {
  const {limits, requests, claims} = resources;
  if (state !== 'CONTAINER_RUNNING') return shown({limits, requests, claims}, requests);
  const actual = cri.resources?.linux;
  const shownLimits = limits && {
    ...limits,
    ...cpuAndMemoryOf(before.limits),
    ...actuatedAmounts(limits, actuated.limits),
    ...(actual && actualLimits(actual, limits)),
  };
  const shownRequests = requests && {
    ...requests,
    ...cpuAndMemoryOf(before.requests),
    ...actuatedAmounts(requests, actuated.requests),
    ...(actual && actualRequests(actual, requests)),
  };
  return shown({limits: shownLimits, requests: shownRequests, claims}, requests);
}

/** Lists of resources, of which each may be undefined. */
type Undefinable<T> = {readonly [K in keyof T]: T[K] | undefined};

function shown(
  {limits, requests, claims = []}: Undefinable<ResourceRequirements>,
  allocatedResources: ResourceList | undefined,
): Pick<ContainerStatus, 'resources' | 'allocatedResources'> {
  return {
    resources: {
      ...(isNotEmpty(limits) && {limits}),
      ...(isNotEmpty(requests) && {requests}),
      ...(claims.length > 0 && {claims}),
    },
    ...(isNotEmpty(allocatedResources) && {allocatedResources}),
  };
}

function isNotEmpty(list: ResourceList | undefined): list is ResourceList {
  return list !== undefined && Object.keys(list).length > 0;
}

/** Returns the actuated CPU and memory among the resources that are granted. */
function actuatedAmounts(granted: ResourceList, {cpu, memory}: ResourceList = {}): ResourceList {
  return cpuAndMemoryOf({
    ...(granted['cpu'] !== undefined && cpu !== undefined && {cpu}),
    ...(granted['memory'] !== undefined && memory !== undefined && {memory}),
  });
}

/** Returns the CPU and memory of a list: the resources that the kernel reports. */
function cpuAndMemoryOf({cpu, memory}: ResourceList = {}): ResourceList {
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
  return actualCpu(sharesToMilliCpu(cpuShares), asked, MIN_CPU_SHARES);
}

/** Returns the actual CPU; at or below the minimum, the requested amount, which is more precise. */
function actualCpu(milli: bigint, asked: ResourceList, least: bigint): ResourceList {
  if (milli <= 0n) return {};
  if (milli <= least && cpuMilli(asked) <= least)
    return cpuAndMemoryOf({...(asked['cpu'] && {cpu: asked['cpu']})});
  return {cpu: formatAmount({nanos: milli * NANOS_PER_MILLI, format: 'DecimalSI'})};
}
