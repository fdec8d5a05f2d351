import {randomBytes} from 'node:crypto';
import {existsSync, readFileSync} from 'node:fs';
import {access, mkdir, readdir, readFile, rmdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test, vi} from 'vitest';
import type * as AtomicWrite from '../../../../src/base/fs/atomic-write.js';
import {systemClock} from '../../../../src/base/clock.js';
import {acquireLock} from '../../../../src/base/fs/lock.js';
import {CGROUPS_LOCK} from '../../../../src/base/fs/machine-locks.js';
import type {CgroupLimits} from '../../../../src/kubelet/contract/resources/cgroup-limits.js';
import type {CgroupRoot} from '../../../../src/kubelet/resources/cgroup-root.js';
import {cgroupValues} from '../../../../src/kubelet/managers/cgroups/cgroup-files.js';
import {
  cpuSharesToCpuWeight,
  cpuWeightToCpuShares,
  milliCpuToShares,
} from '../../../../src/kubelet/resources/cpu-shares.js';
import {CreatedCgroups} from '../../../../src/kubelet/managers/cgroups/created-cgroups.js';
import {ensurePodCgroup} from '../../../../src/kubelet/managers/cgroups/pod-cgroup.js';
import {removePodCgroup} from '../../../../src/kubelet/managers/cgroups/remove-pod-cgroup.js';
import {until} from '../../../base/until.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';

const ledgerWrites = vi.hoisted((): string[] => []);

vi.mock('../../../../src/base/fs/atomic-write.js', async (importActual) => {
  const actual = await importActual<typeof AtomicWrite>();
  return {
    ...actual,
    writeFileAtomicWithoutSync: async (...call: Parameters<typeof actual.writeFileAtomicWithoutSync>) => {
      ledgerWrites.push(call[0]);
      await actual.writeFileAtomicWithoutSync(...call);
    },
  };
});

const LIMITS: CgroupLimits = {
  cpuShares: 256n,
  cpuQuota: {quota: 50_000n, period: 100_000n},
  memoryBytes: 134_217_728n,
  pids: 100n,
  hugePages: new Map([['2MB', 0n]]),
};

const written = (version: 1 | 2, limits: CgroupLimits): readonly string[] =>
  cgroupValues(version, limits).map(({controller, file, value}) => `${controller} ${file} ${value}`);

describe('cgroupValues', () => {
  test('returns the files of cgroup v1', () => {
    expect(written(1, LIMITS)).toEqual([
      'cpu cpu.shares 256',
      'cpu cpu.cfs_period_us 100000',
      'cpu cpu.cfs_quota_us 50000',
      'memory memory.limit_in_bytes 134217728',
      'pids pids.max 100',
      'hugetlb hugetlb.2MB.limit_in_bytes 0',
    ]);
  });

  test('returns the files of cgroup v2', () => {
    expect(written(2, LIMITS)).toEqual([
      'cpu cpu.weight 10',
      'cpu cpu.max 50000 100000',
      'memory memory.max 134217728',
      'pids pids.max 100',
      'hugetlb hugetlb.2MB.max 0',
    ]);
  });

  test('omits limits that are not set', () => {
    expect(written(2, {cpuShares: 2n, hugePages: new Map()})).toEqual(['cpu cpu.weight 1']);
  });

  test.each([
    [2n, 1n],
    [1024n, 39n],
    [2048n, 79n],
    [262_144n, 10_000n],
  ])('%d CPU shares are a weight of %d and the reverse', (shares, weight) => {
    expect(cpuSharesToCpuWeight(shares)).toBe(weight);
    expect(cpuSharesToCpuWeight(cpuWeightToCpuShares(weight))).toBe(weight);
  });
});

const POD = '/kcri/kubepods/burstable/podu1';

/**
 * Creates a directory that behaves like a cgroup v2 file system as far as directories and written values go.
 */
async function createV2Root(controllers = 'cpuset cpu memory pids'): Promise<CgroupRoot> {
  const mount = await temporaryDirectory();
  await writeFile(join(mount, 'cgroup.controllers'), `${controllers}\n`);
  return {mount, version: 2, rootDir: await temporaryDirectory()};
}

describe('on cgroup v2', () => {
  const read = async (cgroupRoot: CgroupRoot, path: string): Promise<string> =>
    await readFile(`${cgroupRoot.mount}${path}`, 'utf8');

  test('all controllers are enabled at every level, and the limits of the pod are written', async () => {
    const cgroupRoot = await createV2Root();

    await ensurePodCgroup(cgroupRoot, POD, LIMITS);

    for (const level of ['', '/kcri', '/kcri/kubepods', '/kcri/kubepods/burstable'])
      expect(await read(cgroupRoot, `${level}/cgroup.subtree_control`)).toBe('+cpu +memory +pids');
    expect((await readdir(`${cgroupRoot.mount}${POD}`)).sort()).toEqual([
      'cpu.max',
      'cpu.weight',
      'memory.max',
      'pids.max',
    ]);
    expect(await read(cgroupRoot, '/kcri/kubepods/burstable/cpu.weight')).toBe('10');
  });

  test('the weight of the Burstable cgroup is that of the sum of its pods', async () => {
    const cgroupRoot = await createV2Root();
    await ensurePodCgroup(cgroupRoot, POD, {...LIMITS, cpuShares: 1024n});

    await ensurePodCgroup(cgroupRoot, '/kcri/kubepods/burstable/podu2', {...LIMITS, cpuShares: 1024n});

    expect(await read(cgroupRoot, '/kcri/kubepods/burstable/cpu.weight')).toBe('77');
  });

  test('the BestEffort cgroup has the minimum weight', async () => {
    const cgroupRoot = await createV2Root();

    await ensurePodCgroup(cgroupRoot, '/kubepods/besteffort/podu1', {cpuShares: 2n, hugePages: new Map()});

    expect(await read(cgroupRoot, '/kubepods/besteffort/cpu.weight')).toBe('1');
  });

  test('an existing level that kcri did not create keeps its weight', async () => {
    const cgroupRoot = await createV2Root();
    const burstable = join(cgroupRoot.mount, '/kcri/kubepods/burstable');
    await mkdir(burstable, {recursive: true});
    await writeFile(join(burstable, 'cpu.weight'), '500');

    await ensurePodCgroup(cgroupRoot, POD, LIMITS);

    expect(await read(cgroupRoot, '/kcri/kubepods/burstable/cpu.weight')).toBe('500');
  });

  test('a cgroup whose limits were written incompletely gets them the next time', async () => {
    const cgroupRoot = await createV2Root('cpu memory hugetlb');
    const wrong = {...LIMITS, hugePages: new Map([['no/such', 0n]])};
    await expect(ensurePodCgroup(cgroupRoot, POD, wrong)).rejects.toThrow('no such file or directory');

    await ensurePodCgroup(cgroupRoot, POD, LIMITS);
    await ensurePodCgroup(cgroupRoot, POD, {...LIMITS, memoryBytes: 1n});

    expect(await read(cgroupRoot, `${POD}/hugetlb.2MB.max`)).toBe('0');
    expect(await read(cgroupRoot, `${POD}/memory.max`)).toBe('134217728');
  });

  test('a cgroup left incomplete by a killed kcri is completed', async () => {
    const cgroupRoot = await createV2Root();
    const [burstable, pod] = [`${cgroupRoot.mount}/kcri/kubepods/burstable`, `${cgroupRoot.mount}${POD}`];
    await new CreatedCgroups(cgroupRoot.rootDir).begin([burstable, pod]);
    await mkdir(pod, {recursive: true});

    await ensurePodCgroup(cgroupRoot, POD, LIMITS);

    expect(await read(cgroupRoot, `${POD}/memory.max`)).toBe('134217728');
    expect(await read(cgroupRoot, '/kcri/kubepods/burstable/cpu.weight')).toBe('10');
    expect(await new CreatedCgroups(cgroupRoot.rootDir).hasBegun([burstable, pod])).toBe(false);
  });

  test('the ledger is written three times, however many cgroups are missing above a pod, and twice for the next one', async () => {
    const cgroupRoot = await createV2Root();
    ledgerWrites.length = 0;
    await ensurePodCgroup(cgroupRoot, '/a/b/c/d/kubepods/besteffort/pod1', LIMITS);
    const ledger = join(cgroupRoot.rootDir, 'kcri/cgroups.json');
    // Before the pod's cgroup, which all pods of a session share, before those above it, and at the end.
    expect(ledgerWrites).toEqual([ledger, ledger, ledger]);
    ledgerWrites.length = 0;
    await ensurePodCgroup(cgroupRoot, '/a/b/c/d/kubepods/besteffort/pod2', LIMITS);
    expect(ledgerWrites).toEqual([ledger, ledger]);
  });

  test('a pod’s cgroup belongs to the kcri that created it', async () => {
    const cgroupRoot = await createV2Root();
    const other = {...cgroupRoot, rootDir: await temporaryDirectory()};
    await ensurePodCgroup(cgroupRoot, POD, LIMITS);
    await ensurePodCgroup(other, POD, LIMITS);

    const isOwn = async ({mount, rootDir}: CgroupRoot): Promise<boolean> =>
      await new CreatedCgroups(rootDir).isOwn([`${mount}${POD}`]);
    expect([await isOwn(cgroupRoot), await isOwn(other)]).toEqual([true, false]);
  });

  test('nothing is created if the ledger cannot be written', async () => {
    const cgroupRoot = await createV2Root();
    await mkdir(join(cgroupRoot.rootDir, 'kcri'));
    await writeFile(join(cgroupRoot.rootDir, 'kcri/cgroups.json'), 'broken');

    await expect(ensurePodCgroup(cgroupRoot, POD, LIMITS)).rejects.toThrow('invalid file "');

    expect(existsSync(join(cgroupRoot.mount, 'kcri'))).toBe(false);
  });

  test('an empty ledger, as after a power failure, is ignored', async () => {
    const cgroupRoot = await createV2Root();
    await mkdir(join(cgroupRoot.rootDir, 'kcri'));
    await writeFile(join(cgroupRoot.rootDir, 'kcri/cgroups.json'), '');

    await ensurePodCgroup(cgroupRoot, POD, LIMITS);

    expect(await read(cgroupRoot, `${POD}/memory.max`)).toBe('134217728');
  });

  test('an existing cgroup keeps its limits', async () => {
    const cgroupRoot = await createV2Root();
    await ensurePodCgroup(cgroupRoot, POD, LIMITS);

    await ensurePodCgroup(cgroupRoot, POD, {...LIMITS, memoryBytes: 1n});

    expect(await read(cgroupRoot, `${POD}/memory.max`)).toBe('134217728');
  });
});

const isRoot = process.getuid?.() === 0;
const V1_MEMORY = '/sys/fs/cgroup/memory';

/** Returns a cgroup v1 root of this machine and a root path for this test. */
async function createV1Root(): Promise<{cgroupRoot: CgroupRoot; root: string}> {
  const root = `/kcri-test-${randomBytes(4).toString('hex')}`;
  onTestFinished(() => {
    expect(existsSync(`${V1_MEMORY}${root}`)).toBe(false);
  });
  return {cgroupRoot: {mount: '/sys/fs/cgroup', version: 1, rootDir: await temporaryDirectory()}, root};
}

describe.skipIf(!isRoot || !existsSync(V1_MEMORY))('on the kernel (needs root and cgroup v1)', () => {
  const value = (root: string, controller: string, path: string): string =>
    readFileSync(`/sys/fs/cgroup/${controller}${root}${path}`, 'utf8').trim();

  test('the limits of a pod are effective, and all created levels are removed with it', async () => {
    const {cgroupRoot, root} = await createV1Root();
    const path = `${root}/kubepods/burstable/podu1`;

    await ensurePodCgroup(cgroupRoot, path, LIMITS);
    await ensurePodCgroup(cgroupRoot, `${root}/kubepods/burstable/podu2`, {...LIMITS, cpuShares: 512n});

    expect(value(root, 'cpu', '/kubepods/burstable/podu1/cpu.shares')).toBe('256');
    expect(value(root, 'cpu', '/kubepods/burstable/podu1/cpu.cfs_quota_us')).toBe('50000');
    expect(value(root, 'memory', '/kubepods/burstable/podu1/memory.limit_in_bytes')).toBe('134217728');
    expect(value(root, 'pids', '/kubepods/burstable/podu1/pids.max')).toBe('100');
    expect(value(root, 'cpu', '/kubepods/burstable/cpu.shares')).toBe('768');

    await removePodCgroup(cgroupRoot, [`${root}/kubepods/burstable/podu2`], systemClock);
    expect(value(root, 'cpu', '/kubepods/burstable/cpu.shares')).toBe('256');
    await removePodCgroup(cgroupRoot, [path], systemClock);
  });

  test('the shares of the Burstable cgroup are those of the sum of the requests of its pods', async () => {
    const {cgroupRoot, root} = await createV1Root();
    const pods = [100n, 0n, 100n, 3n].map((milliCpu, index) => ({
      path: `${root}/kubepods/burstable/podu${index}`,
      limits: {cpuShares: milliCpuToShares(milliCpu), hugePages: new Map<string, bigint>()},
    }));
    for (const {path, limits} of pods) await ensurePodCgroup(cgroupRoot, path, limits);
    // 203 milli-CPUs; the shares of the pods are 102, 2, 102 and 3.
    expect(value(root, 'cpu', '/kubepods/burstable/cpu.shares')).toBe('207');
    await removePodCgroup(
      cgroupRoot,
      pods.map(({path}) => path),
      systemClock,
    );
  });

  test('two kcri with different root directories create and remove the same levels concurrently', async () => {
    const {cgroupRoot, root} = await createV1Root();
    const other = {...cgroupRoot, rootDir: await temporaryDirectory()};
    const createAndRemove = async (own: CgroupRoot, path: string, rounds: number): Promise<void> => {
      for (let round = 0; round < rounds; round++) {
        await ensurePodCgroup(own, path, LIMITS);
        await removePodCgroup(own, [path], systemClock);
      }
    };

    await Promise.all([
      createAndRemove(cgroupRoot, `${root}/kubepods/besteffort/podu1`, 10),
      createAndRemove(other, `${root}/kubepods/besteffort/podu2`, 10),
    ]);
    // Levels in which the other one had a pod are removed with the next pod of the one that created them.
    for (const own of [cgroupRoot, other, cgroupRoot])
      await createAndRemove(own, `${root}/kubepods/besteffort/podu1`, 1);
  });

  test('of the pods that start at once, only one polls for the lock', async () => {
    const {cgroupRoot, root} = await createV1Root();
    const paths = Array.from({length: 20}, (_, index) => `${root}/kubepods/besteffort/podu${index}`);
    const lock = await acquireLock(CGROUPS_LOCK);
    let [sleeps, asleep, mostAsleep] = [0, 0, 0];
    const sleep = systemClock.sleep.bind(systemClock);
    const spy = vi.spyOn(systemClock, 'sleep').mockImplementation(async (ms, signal) => {
      mostAsleep = Math.max(mostAsleep, ++asleep);
      sleeps++;
      await sleep(ms, signal);
      asleep--;
    });

    const created = Promise.all(paths.map(async (path) => ensurePodCgroup(cgroupRoot, path, LIMITS)));
    await until(() => sleeps > 2);
    spy.mockRestore();
    await lock[Symbol.asyncDispose]();
    await created;

    expect(mostAsleep).toBe(1);
    for (const path of paths) await removePodCgroup(cgroupRoot, [path], systemClock);
  });

  test('levels that kcri did not create are kept, even if created after kcri removed its own', async () => {
    const {cgroupRoot, root} = await createV1Root();
    const other = `${V1_MEMORY}${root}`;
    const path = `${root}/kubepods/podu1`;
    await ensurePodCgroup(cgroupRoot, path, LIMITS);
    await removePodCgroup(cgroupRoot, [path], systemClock);
    await mkdir(other);
    await ensurePodCgroup(cgroupRoot, path, LIMITS);

    await removePodCgroup(cgroupRoot, [path], systemClock);

    await access(other);
    expect(existsSync(`${other}/kubepods`)).toBe(false);
    await rmdir(other);
  });
});
