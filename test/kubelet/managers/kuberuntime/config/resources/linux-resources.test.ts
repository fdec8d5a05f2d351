import {describe, expect, test} from 'vitest';
import type {Container} from '../../../../../../src/api/types/v1-pod.js';
import type {ResourceRequirements} from '../../../../../../src/api/types/v1-meta.js';
import type {CgroupFacts} from '../../../../../../src/kubelet/contract/node-facts.js';
import {
  linuxContainerResources,
  milliCpuToQuota,
  linuxOverheadResources,
  linuxSandboxResources,
} from '../../../../../../src/kubelet/managers/kuberuntime/config/resources/linux-resources.js';
import {milliCpuToShares} from '../../../../../../src/kubelet/resources/cpu-shares.js';
import {aContainer, aPod} from '../../../../../fakes/a-pod.js';

const V1: CgroupFacts = {version: 1, driver: 'cgroupfs', root: '', swapAccounting: true};
const V2: CgroupFacts = {...V1, version: 2};
const NODE = {cgroup: V1, memoryBytes: 16n * 1024n ** 3n, hugePageSizes: ['2MB', '1GB']};

function withResources(resources: ResourceRequirements, fields: Partial<Container> = {}): Container {
  return aContainer({resources, ...fields});
}

test.each([
  [0n, 2n, 0n],
  [1n, 2n, 1000n],
  [5n, 5n, 1000n],
  [100n, 102n, 10_000n],
  [250n, 256n, 25_000n],
  [500n, 512n, 50_000n],
  [1000n, 1024n, 100_000n],
  [1500n, 1536n, 150_000n],
  [300_000n, 262_144n, 30_000_000n],
])('%d millicores are %d shares and a quota of %d µs', (milli, shares, quota) => {
  expect([milliCpuToShares(milli), milliCpuToQuota(milli, 100_000n)]).toEqual([shares, quota]);
});

describe('a container', () => {
  test.each<[string, ResourceRequirements, object]>([
    [
      'has the minimum shares without requests and limits',
      {},
      {cpuShares: 2n, cpuQuota: 0n, memoryLimitInBytes: 0n},
    ],
    [
      'has shares from its CPU request and a quota from its CPU limit',
      {requests: {cpu: '250m'}, limits: {cpu: '1'}},
      {cpuShares: 256n, cpuQuota: 100_000n},
    ],
    [
      'has the minimum shares with a CPU request of 0',
      {requests: {cpu: '0'}, limits: {cpu: '1'}},
      {cpuShares: 2n},
    ],
    [
      'has a limit for each huge page size',
      {limits: {'hugepages-2Mi': '4Mi'}},
      {
        hugepageLimits: [
          {pageSize: '2MB', limit: 4_194_304n},
          {pageSize: '1GB', limit: 0n},
        ],
      },
    ],
  ])('%s', (_title, resources, expected) => {
    const container = withResources(resources);
    const pod = aPod({containers: [container]});

    expect(linuxContainerResources(pod, container, NODE)).toMatchObject(expected);
  });

  test('without a CPU request has shares from its CPU limit', () => {
    const container = withResources({limits: {cpu: '500m'}});

    expect(
      linuxContainerResources({...aPod(), spec: {containers: [container]}}, container, NODE).cpuShares,
    ).toBe(512n);
  });

  test('without limits inherits the limits of the pod', () => {
    const container = withResources({requests: {cpu: '100m'}});
    const pod = aPod({containers: [container], resources: {limits: {cpu: '500m', memory: '128Mi'}}});

    expect(linuxContainerResources(pod, container, NODE)).toMatchObject({
      cpuShares: 102n,
      cpuQuota: 50_000n,
      memoryLimitInBytes: 134_217_728n,
    });
  });

  test('on cgroup v2 sets memory.oom.group', () => {
    const container = withResources({limits: {memory: '64Mi'}});
    const resources = linuxContainerResources(aPod({containers: [container]}), container, {
      ...NODE,
      cgroup: V2,
    });

    expect(resources.unified).toEqual({'memory.oom.group': '1'});
  });
});

describe('a sandbox', () => {
  test('has the sum of the resources of its containers', () => {
    const pod = aPod({
      containers: [
        withResources({requests: {cpu: '250m', memory: '32Mi'}, limits: {cpu: '1500m', memory: '64Mi'}}),
        withResources({limits: {memory: '48Mi'}}, {name: 'other'}),
      ],
    });

    expect(linuxSandboxResources(pod, {cgroup: V1})).toEqual({
      cpuShares: 256n,
      cpuPeriod: 100_000n,
      cpuQuota: 150_000n,
      memoryLimitInBytes: 117_440_512n,
    });
  });

  test('has the resources of the largest init container and the sidecars before it', () => {
    const pod = aPod({
      containers: [withResources({limits: {cpu: '100m'}})],
      initContainers: [
        withResources({limits: {cpu: '1'}}, {name: 'side', restartPolicy: 'Always'}),
        withResources({limits: {cpu: '2'}}, {name: 'init'}),
      ],
    });

    expect(linuxSandboxResources(pod, {cgroup: V1}).cpuQuota).toBe(300_000n);
  });

  test('has the pod-level resources if they are set', () => {
    const pod = aPod({resources: {requests: {cpu: '300m'}, limits: {cpu: '500m'}}});

    expect(linuxSandboxResources(pod, {cgroup: V1})).toMatchObject({cpuShares: 307n, cpuQuota: 50_000n});
  });

  test('on cgroup v2 sets memory.oom.group and no swap limit', () => {
    expect(linuxSandboxResources(aPod(), {cgroup: V2}).unified).toEqual({'memory.oom.group': '1'});
  });

  test('has overhead resources only if the Pod has overhead', () => {
    expect(linuxOverheadResources(aPod(), {cgroup: V1})).toEqual({});
    expect(
      linuxOverheadResources(aPod({overhead: {cpu: '250m', memory: '64Mi'}}), {cgroup: V1}),
    ).toMatchObject({
      cpuShares: 256n,
      cpuQuota: 25_000n,
      memoryLimitInBytes: 67_108_864n,
    });
  });
});
