import {expect, test} from 'vitest';
import {createNodePolicies} from '../../../src/kubelet/configuration/node-policies.js';
import {readKubeletConfig} from '../../../src/kubelet/configuration/kubelet-config.js';

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const read = (text: string) => readKubeletConfig([{path: 'k.yaml', content: HEAD + text}], new Map()).values;
const policyOf = (text: string, version: 1 | 2 = 2) =>
  createNodePolicies(read(text), {version}).containerPolicy;

const DEFAULTS = {
  enforcesCpuLimits: true,
  cpuPeriodMicros: 100_000n,
  singleProcessOomKill: false,
  swapBehavior: 'NoSwap',
  memoryQos: undefined,
};

test.each<[string, object]>([
  ['', {}],
  ['cpuCFSQuota: false\n', {enforcesCpuLimits: false}],
  ['cpuCFSQuotaPeriod: 5ms\n', {cpuPeriodMicros: 5000n}],
  ['singleProcessOOMKill: true\n', {singleProcessOomKill: true}],
  ['memorySwap: {swapBehavior: LimitedSwap}\n', {swapBehavior: 'LimitedSwap'}],
  ['featureGates: {MemoryQoS: true}\n', {memoryQos: {protectsRequests: false, throttlingFactor: 0.9}}],
  [
    'featureGates: {MemoryQoS: true}\nmemoryReservationPolicy: TieredReservation\nmemoryThrottlingFactor: 0.5\n',
    {memoryQos: {protectsRequests: true, throttlingFactor: 0.5}},
  ],
])('%j decides how containers are limited', (text, expected) => {
  expect(policyOf(text)).toEqual({...DEFAULTS, ...expected});
});

test.each([
  [
    'memorySwap: {swapBehavior: LimitedSwap}\n',
    'swap feature is enabled and LimitedSwap but it is only supported with cgroupv2',
  ],
  ['failCgroupV1: true\n', 'kubelet is configured to not run on a host using cgroup v1. '],
  [
    'singleProcessOOMKill: false\n',
    'invalid configuration: singleProcessOOMKill must not be explicitly set to false when using cgroup v1',
  ],
])('%j keeps a kubelet from starting with cgroup v1', (text, message) => {
  expect(() => policyOf(text, 1)).toThrow(message);
});

test('with cgroup v1 the OOM killer kills single processes', () => {
  expect(policyOf('', 1)).toEqual({...DEFAULTS, singleProcessOomKill: true});
});

test.each([
  [
    'cpuCFSQuotaPeriod: 2s\n',
    'cpuCFSQuotaPeriod (--cpu-cfs-quota-period) {2s} must be between 1ms and 1sec, inclusive',
  ],
  [
    'cpuCFSQuotaPeriod: 0s\n',
    'cpuCFSQuotaPeriod (--cpu-cfs-quota-period) {0s} must be between 1ms and 1sec, inclusive',
  ],
  [
    'cpuCFSQuotaPeriod: 5ms\nfeatureGates: {CustomCPUCFSQuotaPeriod: false}\n',
    'cpuCFSQuotaPeriod (--cpu-cfs-quota-period) {5ms} requires feature gate CustomCPUCFSQuotaPeriod',
  ],
  [
    'memorySwap: {swapBehavior: UnlimitedSwap}\n',
    'memorySwap.swapBehavior "UnlimitedSwap" must be one of: "", "LimitedSwap" or "NoSwap"',
  ],
  [
    'memorySwap: {swapBehavior: NoSwap}\nfeatureGates: {NodeSwap: false}\n',
    'memorySwap.swapBehavior cannot be set when NodeSwap feature flag is disabled',
  ],
  [
    'memoryThrottlingFactor: 0\n',
    'memoryThrottlingFactor 0 must be greater than 0 and less than or equal to 1.0',
  ],
  [
    'memoryThrottlingFactor: 1.1\n',
    'memoryThrottlingFactor 1.1 must be greater than 0 and less than or equal to 1.0',
  ],
  [
    'memoryReservationPolicy: TieredReservation\n',
    'memoryReservationPolicy "TieredReservation" requires MemoryQoS feature gate to be enabled',
  ],
  [
    'memoryReservationPolicy: All\n',
    'option "All" specified for memoryReservationPolicy. Valid options are "None" or "TieredReservation"',
  ],
  ['shutdownGracePeriod: 500ms\n', 'shutdownGracePeriod {500ms} must be either zero or otherwise >= 1 sec'],
  [
    'shutdownGracePeriod: 5s\nshutdownGracePeriodCriticalPods: 1ms\n',
    'shutdownGracePeriodCriticalPods {1ms} must be either zero or otherwise >= 1 sec',
  ],
  [
    'shutdownGracePeriod: 1s\nshutdownGracePeriodCriticalPods: 2s\n',
    'shutdownGracePeriodCriticalPods {2s} must be <= shutdownGracePeriod {1s}',
  ],
  [
    'imageMaximumGCAge: 120s\nimageMinimumGCAge: 2m\n',
    'imageMaximumGCAge 2m0s must be greater than imageMinimumGCAge 2m0s',
  ],
  [
    'cgroupsPerQOS: false\n',
    'cgroupsPerQOS (--cgroups-per-qos) must be set to true when "pods" contained in enforceNodeAllocatable (--enforce-node-allocatable)',
  ],
  [
    'shutdownGracePeriod: 5s\nfeatureGates: {GracefulNodeShutdown: false}\n',
    'specifying shutdownGracePeriod or shutdownGracePeriodCriticalPods requires feature gate GracefulNodeShutdown',
  ],
  [
    'shutdownGracePeriod: 5s\nshutdownGracePeriodByPodPriority: [{priority: 1, shutdownGracePeriodSeconds: 2}]\n',
    'Cannot specify both shutdownGracePeriodByPodPriority and shutdownGracePeriod at the same time',
  ],
  [
    'shutdownGracePeriodByPodPriority: [{priority: 1, shutdownGracePeriodSeconds: 2}]\nfeatureGates: {GracefulNodeShutdownBasedOnPodPriority: false}\n',
    'Specifying shutdownGracePeriodByPodPriority requires feature gate GracefulNodeShutdownBasedOnPodPriority',
  ],
])('%j is invalid', (text, message) => {
  expect(() => read(text)).toThrow(`invalid configuration: ${message}`);
});
