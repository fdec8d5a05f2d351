import {expect, test} from 'vitest';
import type {PodSpec} from '../../../../../src/api/types/v1-pod.js';
import type {ResourceRequirements} from '../../../../../src/api/types/v1-meta.js';
import type {ContainerState, LinuxContainerResources} from '../../../../../src/cri/index.js';
import {linuxContainerResources} from '../../../../../src/kubelet/managers/kuberuntime/config/resources/linux-resources.js';
import {computeContainerResources} from '../../../../../src/kubelet/pods/status/compute/container-resources.js';
import {aContainer, aPod} from '../../../../fakes/a-pod.js';
import {anInstance} from '../../../../fakes/a-runtime-pod.js';

const NODE = {
  cgroup: {version: 2, driver: 'cgroupfs', root: '', swapAccounting: true},
  memoryBytes: 16n * 1024n ** 3n,
  hugePageSizes: [],
} as const;

const NOTHING_SET: LinuxContainerResources = {
  cpuPeriod: 0n,
  cpuQuota: 0n,
  cpuShares: 0n,
  memoryLimitInBytes: 0n,
  oomScoreAdj: 0n,
  cpusetCpus: '',
  cpusetMems: '',
  hugepageLimits: [],
  unified: {},
  memorySwapLimitInBytes: 0n,
};

function reportedResources(
  resources: ResourceRequirements,
  set: Partial<LinuxContainerResources>,
  state: ContainerState = 'CONTAINER_RUNNING',
): ResourceRequirements | undefined {
  const cri = {resources: {linux: {...NOTHING_SET, ...set}}};
  return computeContainerResources(aContainer({resources}), anInstance('main', state, cri)).resources;
}

/** Returns the resources of a running container whose runtime reports exactly the limits it received. */
function resourcesAsSent(
  resources: ResourceRequirements,
  spec: Partial<PodSpec> = {},
): ResourceRequirements | undefined {
  const container = aContainer({resources});
  const pod = aPod({containers: [container], ...spec});
  return reportedResources(
    resources,
    linuxContainerResources(pod, container, NODE) as Partial<LinuxContainerResources>,
  );
}

test.each<[string, ResourceRequirements]>([
  ['without resources', {}],
  ['with CPU and memory', {requests: {cpu: '250m', memory: '64Mi'}, limits: {cpu: '1500m', memory: '1Gi'}}],
  ['with less CPU than the minimum', {requests: {cpu: '1m'}, limits: {cpu: '5m'}}],
  ['with resources that cgroups do not represent', {requests: {memory: '1M', 'example.com/gpu': '1'}}],
  ['with the smallest CPU amounts that are reported exactly', {requests: {cpu: '3m'}, limits: {cpu: '11m'}}],
])('a container %s reports the resources of its spec', (_title, resources) => {
  expect(resourcesAsSent(resources)).toEqual(resources);
});

test('memory is reported in binary units', () => {
  expect(resourcesAsSent({limits: {memory: '100M'}})).toEqual({limits: {memory: '100000000'}});
  expect(resourcesAsSent({limits: {memory: '1024k'}})).toEqual({limits: {memory: '1000Ki'}});
});

test('limits inherited from the pod are reported only in lists that the container sets', () => {
  const ofPod = {resources: {limits: {cpu: '2', memory: '1Gi'}}};
  expect(resourcesAsSent({limits: {cpu: '1'}, requests: {cpu: '500m'}}, ofPod)).toEqual({
    limits: {cpu: '1', memory: '1Gi'},
    requests: {cpu: '500m'},
  });
  expect(resourcesAsSent({requests: {memory: '64Mi'}}, ofPod)).toEqual({
    requests: {memory: '64Mi', cpu: '2'},
  });
  expect(resourcesAsSent({}, ofPod)).toEqual({});
});

test('resources reported by the runtime take precedence over the spec', () => {
  const requirements = {limits: {cpu: '1', memory: '1Gi'}, requests: {cpu: '1', memory: '1Gi'}};
  const set = {cpuPeriod: 50_000n, cpuQuota: 100_000n, cpuShares: 2n, memoryLimitInBytes: 2n ** 29n};
  expect(reportedResources(requirements, set)).toEqual({
    limits: {cpu: '2', memory: '512Mi'},
    requests: {cpu: '2m', memory: '1Gi'},
  });
});

test.each<[string, Partial<LinuxContainerResources>, ResourceRequirements]>([
  ['the minimum quota', {cpuPeriod: 100_000n, cpuQuota: 1000n}, {limits: {cpu: '5m'}, requests: {cpu: '1m'}}],
  [
    'a quota above the minimum',
    {cpuPeriod: 100_000n, cpuQuota: 1100n},
    {limits: {cpu: '11m'}, requests: {cpu: '1m'}},
  ],
  ['the minimum shares', {cpuShares: 2n}, {limits: {cpu: '5m'}, requests: {cpu: '1m'}}],
  ['shares above the minimum', {cpuShares: 3n}, {limits: {cpu: '5m'}, requests: {cpu: '3m'}}],
])('a container that requests almost no CPU and has %s', (_title, set, expected) => {
  expect(reportedResources({limits: {cpu: '5m'}, requests: {cpu: '1m'}}, set)).toEqual(expected);
});

test.each([
  ['1', 100n, '1m'],
  ['10m', 500n, '10m'],
  ['11m', 500n, '5m'],
])('a limit of %s CPUs with a quota of %i us is reported as %s', (cpu, cpuQuota, expected) => {
  expect(reportedResources({limits: {cpu}}, {cpuPeriod: 100_000n, cpuQuota})).toEqual({
    limits: {cpu: expected},
  });
});

test.each<[string, Partial<LinuxContainerResources>, ContainerState]>([
  ['is unlimited', {cpuPeriod: 100_000n, cpuQuota: -1n}, 'CONTAINER_RUNNING'],
  ['reports nothing', {}, 'CONTAINER_RUNNING'],
  ['has fewer shares than the minimum', {cpuShares: 1n}, 'CONTAINER_RUNNING'],
  ['is not running', {cpuShares: 4096n, memoryLimitInBytes: 1n}, 'CONTAINER_EXITED'],
])('a container that %s reports the resources of its spec', (_title, set, state) => {
  const requirements = {limits: {cpu: '1', memory: '100M'}, requests: {cpu: '1'}};
  expect(reportedResources(requirements, set, state)).toEqual(requirements);
});

// Proves: ResourceRequirements.requests
test('allocatedResources are the requests of the spec', () => {
  const requests = {cpu: '1', memory: '1Gi'};
  const linux = {...NOTHING_SET, cpuShares: 2048n};
  const instance = anInstance('main', 'CONTAINER_RUNNING', {resources: {linux}});
  expect(computeContainerResources(aContainer({resources: {requests}}), instance)).toEqual({
    resources: {requests: {cpu: '2', memory: '1Gi'}},
    allocatedResources: requests,
  });
});

test('resources that the runtime does not report are kept from the previous status', () => {
  const requirements = {limits: {cpu: '1', memory: '1Gi'}, requests: {cpu: '1', memory: '1Gi'}};
  const before = {limits: {cpu: '2', 'example.com/gpu': '9'}, requests: {cpu: '3', memory: '2Gi'}};
  const of = (
    state: ContainerState,
    set: Partial<LinuxContainerResources>,
  ): ResourceRequirements | undefined => {
    const instance = anInstance('main', state, {resources: {linux: {...NOTHING_SET, ...set}}});
    return computeContainerResources(aContainer({resources: requirements}), instance, {before}).resources;
  };

  expect(of('CONTAINER_RUNNING', {cpuShares: 4096n})).toEqual({
    limits: {cpu: '2', memory: '1Gi'},
    requests: {cpu: '4', memory: '2Gi'},
  });
  expect(of('CONTAINER_EXITED', {cpuShares: 4096n})).toEqual(requirements);
});

test('at the minimum shares, the request of the spec is reported instead of the previous status', () => {
  const linux = {...NOTHING_SET, cpuShares: 2n};
  const instance = anInstance('main', 'CONTAINER_RUNNING', {resources: {linux}});
  const before = {requests: {cpu: '5'}};
  expect(
    computeContainerResources(aContainer({resources: {requests: {cpu: '1m'}}}), instance, {before}).resources,
  ).toEqual({
    requests: {cpu: '1m'},
  });
});

test('empty lists are omitted', () => {
  const instance = anInstance('main', 'CONTAINER_EXITED');
  expect(computeContainerResources(aContainer({resources: {limits: {}, requests: {}}}), instance)).toEqual({
    resources: {},
  });
});
