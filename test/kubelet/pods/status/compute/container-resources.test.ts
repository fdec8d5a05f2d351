import {expect, test} from 'vitest';
import type {PodSpec} from '../../../../../src/api/types/v1-pod.js';
import type {ResourceRequirements} from '../../../../../src/api/types/v1-meta.js';
import type {ContainerState, LinuxContainerResources} from '../../../../../src/cri/index.js';
import {linuxContainerResources} from '../../../../../src/kubelet/managers/kuberuntime/config/resources/linux-resources.js';
import {computeContainerResources} from '../../../../../src/kubelet/pods/status/compute/container-resources.js';
import {aContainer, aPod} from '../../../pod-builders.js';
import {anInstance} from '../../runtime-pod-builders.js';

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

function shown(
  resources: ResourceRequirements,
  set: Partial<LinuxContainerResources>,
  state: ContainerState = 'CONTAINER_RUNNING',
): ResourceRequirements | undefined {
  const cri = {resources: {linux: {...NOTHING_SET, ...set}}};
  return computeContainerResources(aContainer({resources}), anInstance('main', state, cri)).resources;
}

/** What is shown of a running container whose runtime tells just what it was sent. */
function sent(
  resources: ResourceRequirements,
  spec: Partial<PodSpec> = {},
): ResourceRequirements | undefined {
  const container = aContainer({resources});
  const pod = aPod({containers: [container], ...spec});
  return shown(resources, linuxContainerResources(pod, container, NODE) as Partial<LinuxContainerResources>);
}

test.each<[string, ResourceRequirements]>([
  ['asks for nothing', {}],
  [
    'asks for CPU and memory',
    {requests: {cpu: '250m', memory: '64Mi'}, limits: {cpu: '1500m', memory: '1Gi'}},
  ],
  ['asks for less than can be set', {requests: {cpu: '1m'}, limits: {cpu: '5m'}}],
  ['asks for what the kernel does not keep', {requests: {memory: '1M', 'example.com/gpu': '1'}}],
  ['has the least that is shown', {requests: {cpu: '3m'}, limits: {cpu: '11m'}}],
])('a container that %s shows as much', (_title, resources) => {
  expect(sent(resources)).toEqual(resources);
});

test('memory is shown in binary units, whatever the Pod writes', () => {
  expect(sent({limits: {memory: '100M'}})).toEqual({limits: {memory: '100000000'}});
  expect(sent({limits: {memory: '1024k'}})).toEqual({limits: {memory: '1000Ki'}});
});

test("what a container has of its pod's limits is shown in the lists that it has", () => {
  const ofPod = {resources: {limits: {cpu: '2', memory: '1Gi'}}};
  expect(sent({limits: {cpu: '1'}, requests: {cpu: '500m'}}, ofPod)).toEqual({
    limits: {cpu: '1', memory: '1Gi'},
    requests: {cpu: '500m'},
  });
  expect(sent({requests: {memory: '64Mi'}}, ofPod)).toEqual({requests: {memory: '64Mi', cpu: '2'}});
  expect(sent({}, ofPod)).toEqual({});
});

test('what the runtime says goes before what was asked for', () => {
  const asked = {limits: {cpu: '1', memory: '1Gi'}, requests: {cpu: '1', memory: '1Gi'}};
  const set = {cpuPeriod: 50_000n, cpuQuota: 100_000n, cpuShares: 2n, memoryLimitInBytes: 2n ** 29n};
  expect(shown(asked, set)).toEqual({
    limits: {cpu: '2', memory: '512Mi'},
    requests: {cpu: '2m', memory: '1Gi'},
  });
});

test.each<[string, Partial<LinuxContainerResources>, ResourceRequirements]>([
  ['the least quota', {cpuPeriod: 100_000n, cpuQuota: 1000n}, {limits: {cpu: '5m'}, requests: {cpu: '1m'}}],
  [
    'a quota above the least',
    {cpuPeriod: 100_000n, cpuQuota: 1100n},
    {limits: {cpu: '11m'}, requests: {cpu: '1m'}},
  ],
  ['the least shares', {cpuShares: 2n}, {limits: {cpu: '5m'}, requests: {cpu: '1m'}}],
  ['shares above the least', {cpuShares: 3n}, {limits: {cpu: '5m'}, requests: {cpu: '3m'}}],
])('a container that asks for next to nothing and has %s', (_title, set, expected) => {
  expect(shown({limits: {cpu: '5m'}, requests: {cpu: '1m'}}, set)).toEqual(expected);
});

test.each([
  ['1', 100n, '1m'],
  ['10m', 500n, '10m'],
  ['11m', 500n, '5m'],
])('a limit of %s CPUs and a quota of %i us are shown as %s', (cpu, cpuQuota, expected) => {
  expect(shown({limits: {cpu}}, {cpuPeriod: 100_000n, cpuQuota})).toEqual({limits: {cpu: expected}});
});

test.each<[string, Partial<LinuxContainerResources>, ContainerState]>([
  ['is unlimited', {cpuPeriod: 100_000n, cpuQuota: -1n}, 'CONTAINER_RUNNING'],
  ['tells nothing', {}, 'CONTAINER_RUNNING'],
  ['has fewer shares than there can be', {cpuShares: 1n}, 'CONTAINER_RUNNING'],
  ['does not run', {cpuShares: 4096n, memoryLimitInBytes: 1n}, 'CONTAINER_EXITED'],
])('a container of which the runtime says that it %s shows what it asks for', (_title, set, state) => {
  const asked = {limits: {cpu: '1', memory: '100M'}, requests: {cpu: '1'}};
  expect(shown(asked, set, state)).toEqual(asked);
});

test('what was granted is what was asked for', () => {
  const requests = {cpu: '1', memory: '1Gi'};
  const linux = {...NOTHING_SET, cpuShares: 2048n};
  const instance = anInstance('main', 'CONTAINER_RUNNING', {resources: {linux}});
  expect(computeContainerResources(aContainer({resources: {requests}}), instance)).toEqual({
    resources: {requests: {cpu: '2', memory: '1Gi'}},
    allocatedResources: requests,
  });
});

test('what the runtime does not say is as it was shown before', () => {
  const asked = {limits: {cpu: '1', memory: '1Gi'}, requests: {cpu: '1', memory: '1Gi'}};
  const before = {limits: {cpu: '2', 'example.com/gpu': '9'}, requests: {cpu: '3', memory: '2Gi'}};
  const of = (
    state: ContainerState,
    set: Partial<LinuxContainerResources>,
  ): ResourceRequirements | undefined => {
    const instance = anInstance('main', state, {resources: {linux: {...NOTHING_SET, ...set}}});
    return computeContainerResources(aContainer({resources: asked}), instance, {before}).resources;
  };

  expect(of('CONTAINER_RUNNING', {cpuShares: 4096n})).toEqual({
    limits: {cpu: '2', memory: '1Gi'},
    requests: {cpu: '4', memory: '2Gi'},
  });
  expect(of('CONTAINER_EXITED', {cpuShares: 4096n})).toEqual(asked);
});

test('of no more than the least that can be set, what was asked for is shown, not what was shown before', () => {
  const linux = {...NOTHING_SET, cpuShares: 2n};
  const instance = anInstance('main', 'CONTAINER_RUNNING', {resources: {linux}});
  const before = {requests: {cpu: '5'}};
  expect(
    computeContainerResources(aContainer({resources: {requests: {cpu: '1m'}}}), instance, {before}).resources,
  ).toEqual({
    requests: {cpu: '1m'},
  });
});

test('an empty list is none', () => {
  const instance = anInstance('main', 'CONTAINER_EXITED');
  expect(computeContainerResources(aContainer({resources: {limits: {}, requests: {}}}), instance)).toEqual({
    resources: {},
  });
});
