import {expect, test} from 'vitest';
import type {PodSpec} from '../../../../../../src/api/types/v1-pod.js';
import type {ResourceRequirements} from '../../../../../../src/api/types/v1-meta.js';
import {podCgroupLimits} from '../../../../../../src/kubelet/managers/kuberuntime/config/resources/pod-cgroup-limits.js';
import {
  DEFAULT_CONTAINER_POLICY,
  type ContainerPolicy,
} from '../../../../../../src/kubelet/contract/resources/container-policy.js';
import {GOLDEN_NODE} from '../../../../../golden/golden-cases.js';
import {aContainer, aPod} from '../../../../../fakes/a-pod.js';

const PAGES = new Map([
  ['2MB', 0n],
  ['1GB', 0n],
]);
const MIB = 1024n * 1024n;

const of = (spec: Partial<PodSpec>, node = GOLDEN_NODE) => podCgroupLimits(aPod(spec), node);
const having = (...all: readonly ResourceRequirements[]): Partial<PodSpec> => ({
  containers: all.map((resources, index) => aContainer({name: `c${index}`, resources})),
});
const half = {limits: {cpu: '500m', memory: '64Mi'}};

test('a BestEffort pod has the minimum shares and no limits', () => {
  expect(of({})).toEqual({cpuShares: 2n, hugePages: PAGES});
});

// Proves: ResourceRequirements.limits
test('a Guaranteed pod has the sum of the limits of its containers', () => {
  expect(of(having(half, half))).toEqual({
    cpuShares: 1024n,
    cpuQuota: {quota: 100_000n, period: 100_000n},
    memoryBytes: 128n * MIB,
    hugePages: PAGES,
  });
});

test('a Burstable pod is limited in a resource only if every container is', () => {
  const memory = {limits: {memory: '64Mi'}};

  expect(of(having(half, memory))).toEqual({
    cpuShares: 512n,
    memoryBytes: 128n * MIB,
    hugePages: PAGES,
  });
  expect(of({...having(memory), initContainers: [aContainer({name: 'i'})]})).not.toHaveProperty(
    'memoryBytes',
  );
});

test('pod-level limits take precedence over those of the containers', () => {
  const resources = {requests: {cpu: '300m', memory: '96Mi'}, limits: {cpu: '500m', memory: '128Mi'}};

  expect(of({...having({}, half), resources})).toEqual({
    cpuShares: 307n,
    cpuQuota: {quota: 50_000n, period: 100_000n},
    memoryBytes: 128n * MIB,
    hugePages: PAGES,
  });
});

// Proves: PodSpec.overhead
test('overhead is added to existing limits, but does not create a limit', () => {
  const overhead = {cpu: '250m', memory: '16Mi'};

  expect(of({...having(half), overhead})).toMatchObject({
    cpuShares: 768n,
    cpuQuota: {quota: 75_000n},
    memoryBytes: 80n * MIB,
  });
  expect(of({...having({requests: {cpu: '250m'}}), overhead})).toEqual({cpuShares: 512n, hugePages: PAGES});
});

test('huge pages are limited for the sizes of the node, and PIDs to podPidsLimit', () => {
  const limits = {cpu: '1', memory: '64Mi', 'hugepages-2Mi': '4Mi', 'hugepages-64Ki': '64Ki'};

  expect(of(having({limits}), {...GOLDEN_NODE, podPidsLimit: 512n})).toMatchObject({
    pids: 512n,
    hugePages: new Map([
      ['2MB', 4n * MIB],
      ['1GB', 0n],
    ]),
  });
});

test('without enforced CPU limits a pod may use all CPUs, and another period changes the quota', () => {
  const policy = (own: Partial<ContainerPolicy>) => ({
    ...GOLDEN_NODE,
    containerPolicy: {...DEFAULT_CONTAINER_POLICY, ...own},
  });
  expect(of(having(half), policy({enforcesCpuLimits: false})).cpuQuota).toEqual({
    quota: -1n,
    period: 100_000n,
  });
  expect(of(having(half), policy({cpuPeriodMicros: 20_000n})).cpuQuota).toEqual({
    quota: 10_000n,
    period: 20_000n,
  });
});

// As recorded of a kubelet (node-managers/recordings/pids-limit).
test('a pod has the limit of processes of the node', () => {
  expect(of({}, {...GOLDEN_NODE, podPidsLimit: 50n}).pids).toBe(50n);
});
