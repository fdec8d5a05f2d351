import {expect, test} from 'vitest';
import {DEFAULT_CONTAINER_POLICY} from '../../../../src/kubelet/contract/resources/container-policy.js';
import {cgroupValues} from '../../../../src/kubelet/managers/cgroups/cgroup-files.js';
import {createMemoryQosManager} from '../../../../src/kubelet/managers/memory-qos/memory-qos-manager.js';
import {aContainer, aPod} from '../../../fakes/a-pod.js';
import {GOLDEN_NODE} from '../../../golden/golden-cases.js';

const node = (version: 1 | 2, protectsRequests: boolean) => ({
  cgroup: {...GOLDEN_NODE.cgroup, version},
  containerPolicy: {...DEFAULT_CONTAINER_POLICY, memoryQos: {protectsRequests, throttlingFactor: 0.9}},
});
const LIMITS = {cpuShares: 2n, hugePages: new Map<string, bigint>()};
const podWith = (resources: object) => aPod({containers: [aContainer({resources})]});

test.each<[string, object, object]>([
  ['Guaranteed', {limits: {cpu: '1', memory: '1Ki'}}, {memoryFiles: {'memory.min': '1024'}}],
  ['Burstable', {requests: {memory: '1Ki'}}, {memoryFiles: {'memory.low': '1024'}}],
  ['BestEffort', {}, {}],
])('the cgroup of a %s pod protects its request', (_qos, resources, expected) => {
  const manager = createMemoryQosManager(node(2, true));
  expect(manager?.podLimits?.(podWith(resources), LIMITS)).toEqual({...LIMITS, ...expected});
});

test('nothing is protected without the policy, and there is no manager with cgroup v1', () => {
  const pod = podWith({requests: {memory: '1Ki'}});
  expect(createMemoryQosManager(node(2, false))?.podLimits?.(pod, LIMITS)).toEqual(LIMITS);
  expect(createMemoryQosManager(node(1, true))).toBeUndefined();
});

test('the files are written, and a quota without a limit is max', () => {
  const cpuQuota = {quota: -1n, period: 100_000n};
  expect(cgroupValues(2, {memoryFiles: {'memory.min': '1024'}, cpuQuota})).toEqual([
    {controller: 'cpu', file: 'cpu.max', value: 'max 100000'},
    {controller: 'memory', file: 'memory.min', value: '1024'},
  ]);
});
