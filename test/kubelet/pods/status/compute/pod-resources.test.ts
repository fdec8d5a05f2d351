import {expect, test} from 'vitest';
import type {Pod, PodSpec} from '../../../../../src/api/types/v1-pod.js';
import type {PodStatus} from '../../../../../src/api/types/v1-status.js';
import {
  computePodResources,
  type PodResourcesInput,
} from '../../../../../src/kubelet/pods/status/compute/pod-resources.js';
import {aContainer, aPod} from '../../../../fakes/a-pod.js';

const cgroup = {version: 1, driver: 'cgroupfs', root: '', swapAccounting: false} as const;
const node = {cgroup, cgroupMount: '/sys/fs/cgroup'};

/** Returns a Pod of the API server whose phase there is `phase`. */
function apiPod(spec: Partial<PodSpec>, phase: PodStatus['phase'] = 'Running'): Pod {
  const pod = aPod(
    {containers: [aContainer()], ...spec},
    {annotations: {'kubernetes.io/config.source': 'api'}},
  );
  return {...pod, status: {phase}};
}

function requesting(requests: Record<string, string>, limits?: Record<string, string>): Partial<PodSpec> {
  return {containers: [aContainer({resources: {requests, ...(limits && {limits})}})]};
}

function resourcesOf(pod: Pod, input: Partial<PodResourcesInput> = {}): PodStatus['resources'] {
  return computePodResources({pod, node, previous: {phase: 'Running'}, ...input}).resources;
}

const overhead = {cpu: '250m', memory: '120Mi'};

test('a pod with only overhead has its overhead as requests until the API server knows that it runs', () => {
  expect(computePodResources({pod: apiPod({overhead}, 'Pending'), node, previous: undefined})).toEqual({
    resources: {requests: overhead},
    allocatedResources: overhead,
  });
});

test('a running pod with only overhead has no CPU request: its cgroup is that of a BestEffort pod', () => {
  const pod = apiPod({overhead});
  const previous: PodStatus = {phase: 'Running', resources: {requests: overhead}};
  expect(computePodResources({pod, node, previous})).toEqual({
    resources: {requests: {memory: '120Mi'}},
    allocatedResources: overhead,
  });
});

test('a running pod has the CPU and memory of its cgroup, and no resources that cgroups do not have', () => {
  const amounts = {cpu: '333m', memory: '64Mi', 'ephemeral-storage': '1Gi'};
  expect(resourcesOf(apiPod(requesting(amounts, amounts)))).toEqual({
    requests: {cpu: '333m', memory: '64Mi'},
    limits: {cpu: '333m', memory: '64Mi'},
  });
});

test('the CPU request of a running pod is rounded as the kernel does with cgroup v2', () => {
  const pod = apiPod(requesting({cpu: '100m'}));
  const v2 = {...node, cgroup: {...cgroup, version: 2}} as const;
  expect(resourcesOf(pod)).toEqual({requests: {cpu: '100m'}});
  expect(resourcesOf(pod, {node: v2})).toEqual({requests: {cpu: '79m'}});
});

test('limits of some containers remain those of the previous status: the cgroup of the pod is not limited', () => {
  const limits = {cpu: '100m', memory: '32Mi'};
  const containers = [aContainer({resources: {limits}}), aContainer({name: 'other'})];
  const previous: PodStatus = {phase: 'Running', resources: {limits}};
  expect(resourcesOf(apiPod({containers}), {previous})?.limits).toEqual(limits);
});

test('the memory request of a resized pod remains that of the previous status, the rest follows the cgroup', () => {
  const [small, large] = [
    {cpu: '100m', memory: '64Mi'},
    {cpu: '150m', memory: '96Mi'},
  ];
  const pod = apiPod(requesting(large, large));
  const previous: PodStatus = {phase: 'Running', resources: {requests: small, limits: small}};
  const actuated = (amounts: typeof small): PodResourcesInput['actuated'] => ({
    pod: undefined,
    containers: new Map([['main', {requests: amounts, limits: amounts}]]),
  });
  expect(resourcesOf(pod, {previous, actuated: actuated(small)})).toEqual({requests: small, limits: small});
  expect(resourcesOf(pod, {previous, actuated: actuated(large)})).toEqual({
    requests: {cpu: '150m', memory: '64Mi'},
    limits: large,
  });
});

test('pod-level resources are kept, and CPU below what a cgroup can express is that of the spec', () => {
  const resources = {
    requests: {cpu: '1m', 'hugepages-2Mi': '4Mi'},
    limits: {cpu: '5m', 'hugepages-2Mi': '4Mi'},
  };
  expect(resourcesOf(apiPod({resources}))).toEqual(resources);
});

test('without cgroups of pods, a running pod keeps the CPU and memory of its previous status', () => {
  const requests = {cpu: '1m', memory: '8Mi'};
  const previous: PodStatus = {phase: 'Running', resources: {requests}};
  const without = {cgroup, cgroupMount: undefined};
  expect(resourcesOf(apiPod(requesting(requests)), {previous, node: without})).toEqual({requests});
});

test('after a restart of the daemon, the previous resources are those of the API server', () => {
  const requests = {cpu: '100m', memory: '64Mi'};
  const pod = apiPod(requesting({cpu: '100m', memory: '96Mi'}));
  const known = {...pod, status: {phase: 'Running', resources: {requests}}} as const;
  expect(resourcesOf(known, {previous: {startTime: '2026-11-20T10:00:00Z'}})).toEqual({requests});
});

test('a pod that has ended keeps its last resources', () => {
  const resources = {requests: {cpu: '150m', memory: '64Mi'}};
  const previous: PodStatus = {phase: 'Succeeded', resources};
  expect(resourcesOf(apiPod(requesting({cpu: '2', memory: '1Gi'})), {previous})).toEqual(resources);
});
