import {randomBytes} from 'node:crypto';
import {existsSync, readFileSync} from 'node:fs';
import {access, mkdir, readdir, readFile, rmdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {systemClock} from '../../../../src/base/clock.js';
import type {CgroupLimits} from '../../../../src/kubelet/contract/resources/cgroup-limits.js';
import type {CgroupRoot} from '../../../../src/kubelet/contract/node-facts.js';
import {cgroupValues} from '../../../../src/kubelet/managers/cgroups/cgroup-files.js';
import {
  cpuSharesToCpuWeight,
  cpuWeightToCpuShares,
} from '../../../../src/kubelet/contract/resources/cpu-shares.js';
import {CreatedCgroups} from '../../../../src/kubelet/managers/cgroups/created-cgroups.js';
import {ensurePodCgroup, removePodCgroup} from '../../../../src/kubelet/managers/cgroups/pod-cgroup.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';

const LIMITS: CgroupLimits = {
  cpuShares: 256n,
  cpuQuota: {quota: 50_000n, period: 100_000n},
  memoryBytes: 134_217_728n,
  pids: 100n,
  hugePages: new Map([['2MB', 0n]]),
};

const written = (version: 1 | 2, limits: CgroupLimits): readonly string[] =>
  cgroupValues(version, limits).map(({controller, file, value}) => `${controller} ${file} ${value}`);

describe('what is written', () => {
  test('in the legacy layout', () => {
    expect(written(1, LIMITS)).toEqual([
      'cpu cpu.shares 256',
      'cpu cpu.cfs_period_us 100000',
      'cpu cpu.cfs_quota_us 50000',
      'memory memory.limit_in_bytes 134217728',
      'pids pids.max 100',
      'hugetlb hugetlb.2MB.limit_in_bytes 0',
    ]);
  });

  test('in the unified layout', () => {
    expect(written(2, LIMITS)).toEqual([
      'cpu cpu.weight 10',
      'cpu cpu.max 50000 100000',
      'memory memory.max 134217728',
      'pids pids.max 100',
      'hugetlb hugetlb.2MB.max 0',
    ]);
  });

  test('no limit that there isn’t', () => {
    expect(written(2, {cpuShares: 2n, hugePages: new Map()})).toEqual(['cpu cpu.weight 1']);
  });

  test.each([
    [2n, 1n],
    [1024n, 39n],
    [2048n, 79n],
    [262_144n, 10_000n],
  ])('%d shares weigh %d, and back', (shares, weight) => {
    expect(cpuSharesToCpuWeight(shares)).toBe(weight);
    expect(cpuSharesToCpuWeight(cpuWeightToCpuShares(weight))).toBe(weight);
  });
});

const POD = '/kcri/kubepods/burstable/podu1';

/** A directory that passes for a unified cgroup file system, as far as directories and what is written go. */
async function aUnifiedGround(controllers = 'cpuset cpu memory pids'): Promise<CgroupRoot> {
  const mount = await temporaryDirectory();
  await writeFile(join(mount, 'cgroup.controllers'), `${controllers}\n`);
  return {mount, version: 2, rootDir: await temporaryDirectory()};
}

describe('in the unified layout', () => {
  const read = async (ground: CgroupRoot, path: string): Promise<string> =>
    await readFile(`${ground.mount}${path}`, 'utf8');

  test('every level passes on the controllers that there are, and the pod has its limits', async () => {
    const ground = await aUnifiedGround();

    await ensurePodCgroup(ground, POD, LIMITS);

    for (const level of ['', '/kcri', '/kcri/kubepods', '/kcri/kubepods/burstable'])
      expect(await read(ground, `${level}/cgroup.subtree_control`)).toBe('+cpu +memory +pids');
    expect((await readdir(`${ground.mount}${POD}`)).sort()).toEqual([
      'cpu.max',
      'cpu.weight',
      'memory.max',
      'pids.max',
    ]);
    expect(await read(ground, '/kcri/kubepods/burstable/cpu.weight')).toBe('10');
  });

  test('Burstable pods weigh together what each does, as far as weights tell', async () => {
    const ground = await aUnifiedGround();
    await ensurePodCgroup(ground, POD, {...LIMITS, cpuShares: 1024n});

    await ensurePodCgroup(ground, '/kcri/kubepods/burstable/podu2', {...LIMITS, cpuShares: 1024n});

    expect(await read(ground, '/kcri/kubepods/burstable/cpu.weight')).toBe('77');
  });

  test('BestEffort pods have what is left', async () => {
    const ground = await aUnifiedGround();

    await ensurePodCgroup(ground, '/kubepods/besteffort/podu1', {cpuShares: 2n, hugePages: new Map()});

    expect(await read(ground, '/kubepods/besteffort/cpu.weight')).toBe('1');
  });

  test('a level that is somebody else’s keeps its weight, and stays', async () => {
    const ground = await aUnifiedGround();
    const burstable = join(ground.mount, '/kcri/kubepods/burstable');
    await mkdir(burstable, {recursive: true});
    await writeFile(join(burstable, 'cpu.weight'), '500');

    await ensurePodCgroup(ground, POD, LIMITS);

    expect(await read(ground, '/kcri/kubepods/burstable/cpu.weight')).toBe('500');
  });

  test('one whose limits could not all be written gets them the next time', async () => {
    const ground = await aUnifiedGround('cpu memory hugetlb');
    const wrong = {...LIMITS, hugePages: new Map([['no/such', 0n]])};
    await expect(ensurePodCgroup(ground, POD, wrong)).rejects.toThrow('no such file or directory');

    await ensurePodCgroup(ground, POD, LIMITS);
    await ensurePodCgroup(ground, POD, {...LIMITS, memoryBytes: 1n});

    expect(await read(ground, `${POD}/hugetlb.2MB.max`)).toBe('0');
    expect(await read(ground, `${POD}/memory.max`)).toBe('134217728');
  });

  test('what a killed kcri has made is finished, and is its own', async () => {
    const ground = await aUnifiedGround();
    const [burstable, pod] = [`${ground.mount}/kcri/kubepods/burstable`, `${ground.mount}${POD}`];
    await new CreatedCgroups(ground.rootDir).begin([burstable, pod]);
    await mkdir(pod, {recursive: true});

    await ensurePodCgroup(ground, POD, LIMITS);

    expect(await read(ground, `${POD}/memory.max`)).toBe('134217728');
    expect(await read(ground, '/kcri/kubepods/burstable/cpu.weight')).toBe('10');
    expect(await new CreatedCgroups(ground.rootDir).hasBegun([burstable, pod])).toBe(false);
  });

  test('nothing is made that is not taken down before', async () => {
    const ground = await aUnifiedGround();
    await writeFile(join(ground.rootDir, 'cgroups.json'), 'broken');

    await expect(ensurePodCgroup(ground, POD, LIMITS)).rejects.toThrow('invalid file "');

    expect(existsSync(join(ground.mount, 'kcri'))).toBe(false);
  });

  test('what a power failure has left empty tells of nothing', async () => {
    const ground = await aUnifiedGround();
    await writeFile(join(ground.rootDir, 'cgroups.json'), '');

    await ensurePodCgroup(ground, POD, LIMITS);

    expect(await read(ground, `${POD}/memory.max`)).toBe('134217728');
  });

  test('a cgroup that is there keeps its limits', async () => {
    const ground = await aUnifiedGround();
    await ensurePodCgroup(ground, POD, LIMITS);

    await ensurePodCgroup(ground, POD, {...LIMITS, memoryBytes: 1n});

    expect(await read(ground, `${POD}/memory.max`)).toBe('134217728');
  });
});

const isRoot = process.getuid?.() === 0;
const V1_MEMORY = '/sys/fs/cgroup/memory';

/** A level of its own in this machine's legacy cgroups. */
async function aRealGround(): Promise<{ground: CgroupRoot; root: string}> {
  const root = `/kcri-test-${randomBytes(4).toString('hex')}`;
  onTestFinished(() => {
    expect(existsSync(`${V1_MEMORY}${root}`)).toBe(false);
  });
  return {ground: {mount: '/sys/fs/cgroup', version: 1, rootDir: await temporaryDirectory()}, root};
}

describe.skipIf(!isRoot || !existsSync(V1_MEMORY))('on the kernel (needs root and legacy cgroups)', () => {
  const value = (root: string, controller: string, path: string): string =>
    readFileSync(`/sys/fs/cgroup/${controller}${root}${path}`, 'utf8').trim();

  test('a pod’s limits hold, and all that was made goes with it', async () => {
    const {ground, root} = await aRealGround();
    const path = `${root}/kubepods/burstable/podu1`;

    await ensurePodCgroup(ground, path, LIMITS);
    await ensurePodCgroup(ground, `${root}/kubepods/burstable/podu2`, {...LIMITS, cpuShares: 512n});

    expect(value(root, 'cpu', '/kubepods/burstable/podu1/cpu.shares')).toBe('256');
    expect(value(root, 'cpu', '/kubepods/burstable/podu1/cpu.cfs_quota_us')).toBe('50000');
    expect(value(root, 'memory', '/kubepods/burstable/podu1/memory.limit_in_bytes')).toBe('134217728');
    expect(value(root, 'pids', '/kubepods/burstable/podu1/pids.max')).toBe('100');
    expect(value(root, 'cpu', '/kubepods/burstable/cpu.shares')).toBe('768');

    await removePodCgroup(ground, [`${root}/kubepods/burstable/podu2`], systemClock);
    expect(value(root, 'cpu', '/kubepods/burstable/cpu.shares')).toBe('256');
    await removePodCgroup(ground, [path], systemClock);
  });

  test('a kcri with another root directory makes and removes the same levels without harm', async () => {
    const {ground, root} = await aRealGround();
    const other = {...ground, rootDir: await temporaryDirectory()};
    const comeAndGo = async (own: CgroupRoot, path: string): Promise<void> => {
      for (let round = 0; round < 10; round++) {
        await ensurePodCgroup(own, path, LIMITS);
        await removePodCgroup(own, [path], systemClock);
      }
    };

    await Promise.all([
      comeAndGo(ground, `${root}/kubepods/besteffort/podu1`),
      comeAndGo(other, `${root}/kubepods/besteffort/podu2`),
    ]);
  });

  test('levels of somebody else’s stay, also when they come after kcri’s went', async () => {
    const {ground, root} = await aRealGround();
    const other = `${V1_MEMORY}${root}`;
    const path = `${root}/kubepods/podu1`;
    await ensurePodCgroup(ground, path, LIMITS);
    await removePodCgroup(ground, [path], systemClock);
    await mkdir(other);
    await ensurePodCgroup(ground, path, LIMITS);

    await removePodCgroup(ground, [path], systemClock);

    await access(other);
    expect(existsSync(`${other}/kubepods`)).toBe(false);
    await rmdir(other);
  });
});
