import {existsSync, readFileSync} from 'node:fs';
import {mkdir, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test, vi} from 'vitest';
import {systemClock} from '../../../../src/base/clock.js';
import type {CgroupLimits} from '../../../../src/kubelet/contract/resources/cgroup-limits.js';
import {ensurePodCgroup, setPodCgroup} from '../../../../src/kubelet/managers/cgroups/pod-cgroup.js';
import {removePodCgroup} from '../../../../src/kubelet/managers/cgroups/remove-pod-cgroup.js';
import {ensureSharedCgroups} from '../../../../src/kubelet/managers/cgroups/shared-cgroups.js';
import {limitProperties, roundQuotas} from '../../../../src/kubelet/managers/cgroups/slice-properties.js';
import type {CgroupRoot} from '../../../../src/kubelet/resources/cgroup-root.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import type {FakeSystemd, FakeSystemdOptions} from '../../../fakes/dbus/fake-systemd.js';
import {startSystemdForTest} from '../../../fakes/dbus/fake-systemd-for-test.js';

const QOS = '/kubepods.slice/kubepods-burstable.slice';
const POD = `${QOS}/kubepods-burstable-podu1.slice`;
const LIMITS: CgroupLimits = {
  cpuShares: 1024n,
  cpuQuota: {quota: 12_345n, period: 100_000n},
  memoryBytes: 134_217_728n,
  memoryFiles: {'memory.high': 'max', 'memory.oom.group': '1'},
  pids: 100n,
  hugePages: new Map(),
};

/** Starts a systemd whose slices are directories, and returns the root of the cgroups that use it. */
async function startSystemd(
  options: Omit<FakeSystemdOptions, 'mount'> = {},
): Promise<{systemd: FakeSystemd; root: CgroupRoot}> {
  const mount = await temporaryDirectory();
  await writeFile(join(mount, 'cgroup.controllers'), 'cpu memory pids\n');
  const systemd = await startSystemdForTest({mount, ...options});
  return {systemd, root: {mount, version: 2, rootDir: await temporaryDirectory(), hasSlices: true}};
}

describe('properties of a slice', () => {
  test.each([
    ['cpu.max', 'max 100000', ['CPUQuotaPeriodUSec=100000', 'CPUQuotaPerSecUSec=18446744073709551615']],
    ['cpu.max', '12345 100000', ['CPUQuotaPeriodUSec=100000', 'CPUQuotaPerSecUSec=130000']],
    ['cpu.max', '50000 100000', ['CPUQuotaPeriodUSec=100000', 'CPUQuotaPerSecUSec=500000']],
    ['memory.max', '4096', ['MemoryMax=4096']],
    ['memory.high', 'max', ['MemoryHigh=18446744073709551615']],
    ['memory.oom.group', '1', []],
    ['pids.max', '7', ['TasksMax=7']],
    ['pids.max', '0', ['TasksMax=1']],
    ['pids.max', '-1', ['TasksMax=18446744073709551615']],
    ['cpu.shares', '2', ['CPUShares=2']],
    ['memory.limit_in_bytes', '4096', ['MemoryLimit=4096']],
    ['cpu.cfs_period_us', '100000', []],
    ['hugetlb.2MB.limit_in_bytes', '0', []],
  ])('%s %s', (file, value, expected) => {
    const properties = limitProperties([{controller: 'memory', file, value}]);
    expect(properties.map(([name, variant]) => `${name}=${variant.value as bigint}`)).toEqual(expected);
  });
});

describe('a CPU quota of cgroup v1', () => {
  test.each([
    ['-1', 18_446_744_073_709_551_615n, '-1'],
    ['50000', 500_000n, '50000'],
    ['12345', 130_000n, '13000'],
  ])('%s', (quota, perSecond, written) => {
    const values = [
      {controller: 'cpu' as const, file: 'cpu.cfs_period_us', value: '100000'},
      {controller: 'cpu' as const, file: 'cpu.cfs_quota_us', value: quota},
    ];
    expect(limitProperties(values)).toEqual([
      ['CPUQuotaPeriodUSec', {signature: 't', value: 100_000n}],
      ['CPUQuotaPerSecUSec', {signature: 't', value: perSecond}],
    ]);
    expect(roundQuotas(values).map(({value}) => value)).toEqual(['100000', written]);
  });
});

describe('slices of systemd', () => {
  test('systemd creates the slices of a pod and keeps its limits, which are also written', async () => {
    const {systemd, root} = await startSystemd();
    expect(await ensurePodCgroup(root, POD, LIMITS)).toBe(true);

    const started = systemd.log.filter((line) => line.startsWith('Start'));
    expect(started).toEqual([
      'StartTransientUnit kubepods.slice Description=kcri cgroup kubepods.slice DefaultDependencies=false',
      'StartTransientUnit kubepods-burstable.slice Description=kcri cgroup kubepods-burstable.slice Wants=kubepods.slice DefaultDependencies=false',
      'StartTransientUnit kubepods-burstable-podu1.slice Description=kcri cgroup kubepods-burstable-podu1.slice Wants=kubepods-burstable.slice DefaultDependencies=false',
    ]);
    expect(systemd.log.filter((line) => line.startsWith('Set'))).toEqual([
      'SetUnitProperties kubepods-burstable-podu1.slice CPUWeight=39 CPUQuotaPeriodUSec=100000 CPUQuotaPerSecUSec=130000 MemoryMax=134217728 MemoryHigh=18446744073709551615 TasksMax=100',
      expect.stringMatching(/^SetUnitProperties kubepods-burstable.slice CPUWeight=\d+$/),
    ]);
    const read = (file: string): string => readFileSync(join(root.mount, POD, file), 'utf8');
    expect([read('cpu.max'), read('memory.max'), read('memory.oom.group')]).toEqual([
      '13000 100000',
      '134217728',
      '1',
    ]);
  });

  test('a slice that lost its cgroup gets it again', async () => {
    const {systemd, root} = await startSystemd();
    await ensurePodCgroup(root, POD, LIMITS);
    await rm(join(root.mount, POD), {recursive: true});
    systemd.log.length = 0;

    expect(await ensurePodCgroup(root, POD, LIMITS)).toBe(true);
    expect(systemd.log[0]).toContain('StartTransientUnit kubepods-burstable-podu1.slice');
    expect(existsSync(join(root.mount, POD, 'memory.max'))).toBe(true);
  });

  test('a resize changes the properties of the slice', async () => {
    const {systemd, root} = await startSystemd();
    await ensurePodCgroup(root, POD, LIMITS);
    systemd.log.length = 0;

    await setPodCgroup(root, POD, {memoryBytes: 4096n});
    expect(systemd.log).toEqual(['SetUnitProperties kubepods-burstable-podu1.slice MemoryMax=4096']);
  });

  test('slices of QoS classes are created at the start, BestEffort with the lowest weight', async () => {
    const {systemd, root} = await startSystemd();
    await ensureSharedCgroups(root, ['/kubepods.slice', '/kubepods.slice/kubepods-besteffort.slice']);
    expect(systemd.log.at(-1)).toBe('SetUnitProperties kubepods-besteffort.slice CPUWeight=1');
  });

  test('a removed pod leaves no slice', async () => {
    const {systemd, root} = await startSystemd();
    await ensurePodCgroup(root, POD, LIMITS);
    systemd.log.length = 0;

    expect(await removePodCgroup(root, [POD], systemClock)).toBe(true);
    expect(systemd.log).toEqual([
      'StopUnit kubepods-burstable-podu1.slice',
      'StopUnit kubepods-burstable.slice',
      'StopUnit kubepods.slice',
    ]);
    expect(existsSync(join(root.mount, 'kubepods.slice'))).toBe(false);
  });

  test('a slice of another kubelet with processes is not stopped', async () => {
    const {systemd, root} = await startSystemd();
    await mkdir(join(root.mount, POD), {recursive: true});
    await writeFile(join(root.mount, POD, 'cgroup.events'), 'populated 1\nfrozen 0\n');

    await expect(removePodCgroup(root, [POD], systemClock)).rejects.toThrow('removing the cgroup');
    expect(systemd.log).toEqual([]);
  });

  test('a slice that systemd does not know is removed', async () => {
    const {root} = await startSystemd();
    await mkdir(join(root.mount, POD), {recursive: true});
    expect(await removePodCgroup(root, [POD], systemClock)).toBe(true);
    expect(existsSync(join(root.mount, POD))).toBe(false);
  });

  test('a failed job and a missing bus are errors that name the slice', async () => {
    const {root} = await startSystemd({jobResult: 'timeout'});
    await expect(ensurePodCgroup(root, POD, LIMITS)).rejects.toThrow(
      'creating the slice "kubepods.slice": the job of systemd has ended with "timeout"',
    );
    vi.stubEnv('DBUS_SYSTEM_BUS_ADDRESS', 'unix:path=/nonexistent/bus');
    await expect(
      ensurePodCgroup({...root, rootDir: await temporaryDirectory()}, POD, LIMITS),
    ).rejects.toThrow(/^creating the slice "kubepods(?:-burstable)?.slice": dial unix \/nonexistent\/bus/);
  });
});

describe('slices of systemd on cgroup v1', () => {
  const OF_SYSTEMD = ['cpu', 'memory', 'pids', 'systemd'];
  const OTHERS = ['cpuset', 'freezer', 'hugetlb'];
  const V1_LIMITS: CgroupLimits = {...LIMITS, memoryFiles: {}, hugePages: new Map([['2MB', 0n]])};

  /** Starts a systemd that creates cgroups in some of the hierarchies, and returns what is in a slice's cgroup. */
  async function startSystemdOnV1(options: Omit<FakeSystemdOptions, 'mount' | 'hierarchies'> = {}) {
    const mount = await temporaryDirectory();
    for (const name of [...OF_SYSTEMD, ...OTHERS]) {
      await mkdir(join(mount, name));
      await writeFile(join(mount, name, 'cgroup.procs'), '');
    }
    await writeFile(join(mount, 'cpuset/cpuset.cpus'), '0-3\n');
    await writeFile(join(mount, 'cpuset/cpuset.mems'), '0\n');
    const systemd = await startSystemdForTest({mount, hierarchies: OF_SYSTEMD, ...options});
    const root: CgroupRoot = {mount, version: 1, rootDir: await temporaryDirectory(), hasSlices: true};
    const present = (path: string): readonly string[] =>
      [...OF_SYSTEMD, ...OTHERS].filter((name) => existsSync(join(mount, name, path)));
    const read = (path: string): string => readFileSync(join(mount, path), 'utf8');
    return {systemd, root, present, read};
  }

  test('systemd creates the slices of a pod once and keeps its limits; kcri does the rest', async () => {
    const {systemd, root, present, read} = await startSystemdOnV1();
    expect(await ensurePodCgroup(root, POD, V1_LIMITS)).toBe(true);

    expect(systemd.log.filter((line) => line.startsWith('Start')).map((line) => line.split(' ')[1])).toEqual([
      'kubepods.slice',
      'kubepods-burstable.slice',
      'kubepods-burstable-podu1.slice',
    ]);
    expect(systemd.log.filter((line) => line.startsWith('Set'))).toEqual([
      'SetUnitProperties kubepods-burstable-podu1.slice CPUShares=1024 CPUQuotaPeriodUSec=100000 CPUQuotaPerSecUSec=130000',
      'SetUnitProperties kubepods-burstable-podu1.slice MemoryLimit=134217728',
      'SetUnitProperties kubepods-burstable-podu1.slice TasksMax=100',
      'SetUnitProperties kubepods-burstable.slice CPUShares=1024',
    ]);
    expect(present(POD)).toEqual([...OF_SYSTEMD, ...OTHERS]);
    expect(
      [
        `cpu${POD}/cpu.shares`,
        `cpu${POD}/cpu.cfs_quota_us`,
        `memory${POD}/memory.limit_in_bytes`,
        `pids${POD}/pids.max`,
        `hugetlb${POD}/hugetlb.2MB.limit_in_bytes`,
        `cpuset${QOS}/cpuset.cpus`,
        `cpuset${POD}/cpuset.cpus`,
        `cpuset${POD}/cpuset.mems`,
      ].map(read),
    ).toEqual(['1024', '13000', '134217728', '100', '0', '0-3', '0-3', '0']);
  });

  test.each(['239', '219', 'v241-rc1', 'unknown'])(
    'systemd %s, which has no property for the period, gets the quota only',
    async (version) => {
      const {systemd, root, read} = await startSystemdOnV1({version});
      await ensurePodCgroup(root, POD, {...V1_LIMITS, cpuQuota: {quota: 25_000n, period: 50_000n}});
      expect(systemd.log).toContain(
        'SetUnitProperties kubepods-burstable-podu1.slice CPUShares=1024 CPUQuotaPerSecUSec=500000',
      );
      expect(read(`cpu${POD}/cpu.cfs_period_us`)).toBe('50000');
    },
  );

  test('a removed pod leaves no slice and no cgroup in any hierarchy', async () => {
    const {systemd, root, present} = await startSystemdOnV1();
    // Without CPUs to copy, there are no files, which the kernel would remove with the directory.
    await rm(join(root.mount, 'cpuset/cpuset.cpus'));
    await rm(join(root.mount, 'cpuset/cpuset.mems'));
    await ensurePodCgroup(root, POD, {cpuShares: 2n, hugePages: new Map()});
    systemd.log.length = 0;

    expect(await removePodCgroup(root, [POD], systemClock)).toBe(true);
    expect(systemd.log).toEqual([
      'StopUnit kubepods-burstable-podu1.slice',
      'StopUnit kubepods-burstable.slice',
      'StopUnit kubepods.slice',
    ]);
    expect(present('kubepods.slice')).toEqual([]);
  });

  test('a slice of another kubelet with a process in a child is not stopped', async () => {
    const {systemd, root} = await startSystemdOnV1();
    const scope = join(root.mount, 'cpu', POD, 'cri-1.scope');
    await mkdir(scope, {recursive: true});
    await writeFile(join(scope, 'cgroup.procs'), '12345\n');

    await expect(removePodCgroup(root, [POD], systemClock)).rejects.toThrow('removing the cgroup');
    expect(systemd.log).toEqual([]);
  });
});
