import {execFileSync} from 'node:child_process';
import {existsSync, readFileSync} from 'node:fs';
import {basename, dirname} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {cpuSharesToCpuWeight} from '../../src/kubelet/resources/cpu-shares.js';
import {until} from '../base/until.js';
import {startKubeletTestbed, type KubeletTestbed} from '../e2e/harness/kubelet-testbed.js';
import {aContainer, aManifest} from '../e2e/harness/manifests.js';
import {podCgroup} from '../e2e/harness/pod-cgroups.js';
import {newestRuntime} from '../e2e/harness/runtimes-under-test.js';

const NODE = 'slices';
const UID = 'vm-sliced';
const MIB = 1024 * 1024;
/** Weights of CPU requests (cpuSharesToCpuWeight). */
const CPU_WEIGHTS = {'100m': String(cpuSharesToCpuWeight(102n)), '200m': String(cpuSharesToCpuWeight(204n))};
const RESOURCES = {requests: {cpu: '100m', memory: '32Mi'}, limits: {cpu: '1234m', memory: '64Mi'}};

const systemctl = (...args: readonly string[]): string =>
  execFileSync('systemctl', ['--no-pager', ...args], {encoding: 'utf8'}).trim();
const property = (cgroup: string, name: string): string =>
  systemctl('show', '--value', '--property', name, basename(cgroup));
const value = (cgroup: string, file: string): string =>
  readFileSync(`/sys/fs/cgroup${cgroup}/${file}`, 'utf8').trim();

describe.each(newestRuntime)('slices of systemd: $name', (which) => {
  let kubelet: KubeletTestbed;
  beforeAll(async () => {
    kubelet = await startKubeletTestbed(which, NODE);
    await kubelet.start('systemReserved: {memory: 256Mi}\n');
  });
  afterAll(() => kubelet[Symbol.asyncDispose]());

  test('pods together are limited to what the node can allocate, and classes have weights', async () => {
    const burstable = dirname(podCgroup(kubelet.podTestbed.cgroupRoot, 'burstable', UID));
    const allPods = dirname(burstable);
    await until(() => existsSync(`/sys/fs/cgroup${allPods}/memory.max`));
    await until(() => value(allPods, 'memory.max') !== 'max');
    expect(property(allPods, 'MemoryMax')).toBe(value(allPods, 'memory.max'));
    expect(property(allPods, 'ActiveState')).toBe('active');
    const bestEffort = dirname(podCgroup(kubelet.podTestbed.cgroupRoot, 'besteffort', UID));
    await until(() => existsSync(`/sys/fs/cgroup${bestEffort}`) && value(bestEffort, 'cpu.weight') === '1');
  });

  test('the limits of a pod outlast a reload of systemd, and nothing is left of the pod', async () => {
    const cgroup = podCgroup(kubelet.podTestbed.cgroupRoot, 'burstable', UID);
    const containers = [aContainer('main', {resources: RESOURCES})];
    await kubelet.put('sliced', aManifest('sliced', {containers}, {uid: UID}));
    await until(async () => {
      const pod = await kubelet.podTestbed.find(`sliced-${NODE}`);
      return pod?.containers[0]?.state === 'CONTAINER_RUNNING';
    });
    const limits = (): readonly string[] => [value(cgroup, 'memory.max'), value(cgroup, 'cpu.max')];
    // systemd has whole percents, and writes the quota again when it creates the scopes of containers.
    expect(limits()).toEqual([String(64 * MIB), '124000 100000']);
    expect([property(cgroup, 'MemoryMax'), property(cgroup, 'CPUQuotaPerSecUSec')]).toEqual([
      String(64 * MIB),
      '1.240000s',
    ]);
    systemctl('daemon-reload');
    expect(limits()).toEqual([String(64 * MIB), '124000 100000']);

    await kubelet.remove('sliced');
    await until(() => !existsSync(`/sys/fs/cgroup${cgroup}`));
    await until(() => !systemctl('list-units', '--all', '--plain', '--no-legend').includes('vm_sliced'));
  });
});

describe.each(newestRuntime)('reserved cgroups of systemd: $name', (which) => {
  const [SYSTEM, KUBE] = ['/kcrisystem.slice', '/kcrikube.slice'];
  let kubelet: KubeletTestbed;
  beforeAll(async () => {
    kubelet = await startKubeletTestbed(which, 'reserved');
  });
  afterAll(async () => {
    await kubelet[Symbol.asyncDispose]();
    systemctl('stop', basename(SYSTEM), basename(KUBE));
  });

  test('are limited and protected under each of their names, also after a reload of systemd', async () => {
    systemctl('start', basename(SYSTEM), basename(KUBE));
    await kubelet.start(`enforceNodeAllocatable: [pods, system-reserved, kube-reserved-compressible]
systemReserved: {cpu: 100m, memory: 256Mi, pid: "1000"}
kubeReserved: {cpu: 200m, memory: 64Mi}
systemReservedCgroup: ${SYSTEM.replace('.slice', '')}
kubeReservedCgroup: ${basename(KUBE)}
featureGates: {MemoryQoS: true}
`);
    const limits = (): unknown => ({
      system: ['cpu.weight', 'memory.max', 'memory.min', 'pids.max'].map((file) => value(SYSTEM, file)),
      kube: ['cpu.weight', 'memory.max'].map((file) => value(KUBE, file)),
    });
    const expected = {
      system: [CPU_WEIGHTS['100m'], String(256 * MIB), String(256 * MIB), '1000'],
      kube: [CPU_WEIGHTS['200m'], 'max'],
    };
    expect(limits()).toEqual(expected);
    systemctl('daemon-reload');
    expect(limits()).toEqual(expected);
  });
});
