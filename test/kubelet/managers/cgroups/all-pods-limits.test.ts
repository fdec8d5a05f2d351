import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {allPodsLimits, nodeAllocatable} from '../../../../src/kubelet/resources/node-allocatable.js';
import type {CgroupRoot} from '../../../../src/kubelet/resources/cgroup-root.js';
import {
  ensurePodCgroup,
  limitAllPods,
  limitExistingCgroup,
} from '../../../../src/kubelet/managers/cgroups/pod-cgroup.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';

const GI = 1024n ** 3n;
const POD = '/kubepods/burstable/podu1';
const LIMITS = {cpuShares: 2048n, memoryBytes: 4n * GI, pids: 1000n, hugePages: new Map([['2MB', 0n]])};
const POD_LIMITS = {cpuShares: 256n, hugePages: new Map()};
const CONTROLLERS = ['cpu', 'memory', 'pids', 'hugetlb'];

/** Returns ordinary directories in place of the hierarchies. */
async function aCgroupRoot(version: 1 | 2, limits = LIMITS): Promise<CgroupRoot> {
  const mount = await temporaryDirectory();
  if (version === 2) {
    await writeFile(join(mount, 'cgroup.controllers'), CONTROLLERS.join(' '));
    await writeFile(join(mount, 'cgroup.subtree_control'), '');
  } else for (const name of CONTROLLERS) await mkdir(join(mount, name));
  return {mount, version, rootDir: await temporaryDirectory(), allPods: {path: '/kubepods', limits}};
}

/** Returns the limits of the cgroup of all pods: CPU, memory, PIDs and huge pages. */
async function limitsOf({mount, version}: CgroupRoot): Promise<readonly string[]> {
  const files =
    version === 2
      ? ['cpu.weight', 'memory.max', 'pids.max', 'hugetlb.2MB.max']
      : [
          'cpu/cpu.shares',
          'memory/memory.limit_in_bytes',
          'pids/pids.max',
          'hugetlb/hugetlb.2MB.limit_in_bytes',
        ];
  return await Promise.all(
    files.map(async (file) => {
      const [controller = '', name = ''] = version === 2 ? ['', file] : file.split('/');
      return await readFile(join(mount, controller, 'kubepods', name), 'utf8').catch(() => '');
    }),
  );
}

const MEMORY = String(4n * GI);

describe.each([
  [1, ['2048', MEMORY, '1000', '0']],
  [2, ['79', MEMORY, '1000', '0']],
] as const)('on cgroup v%d', (version, expected) => {
  test('the cgroup of all pods gets its limits when it is created', async () => {
    const root = await aCgroupRoot(version);
    await ensurePodCgroup(root, POD, POD_LIMITS);
    expect(await limitsOf(root)).toEqual(expected);
  });

  test('the limits of an existing cgroup are changed at the start, not with each pod', async () => {
    const root = await aCgroupRoot(version);
    await ensurePodCgroup(root, POD, POD_LIMITS);
    const more = {...root, allPods: {path: '/kubepods', limits: {...LIMITS, pids: 2000n}}};
    await ensurePodCgroup(more, `${POD}2`, POD_LIMITS);
    expect(await limitsOf(root)).toEqual(expected);
    expect(await limitAllPods(more)).toBe(true);
    expect((await limitsOf(root))[2]).toBe('2000');
  });

  test('a cgroup that another kubelet created is left alone', async () => {
    const root = await aCgroupRoot(version);
    await ensurePodCgroup(
      {...root, rootDir: await temporaryDirectory(), allPods: undefined},
      POD,
      POD_LIMITS,
    );
    expect(await limitAllPods(root)).toBe(false);
    await ensurePodCgroup(root, `${POD}2`, POD_LIMITS);
    expect(await limitsOf(root)).toEqual(['', '', '', '']);
  });

  test('a cgroup to which another kubelet gave the same limits is limited', async () => {
    const root = await aCgroupRoot(version);
    await ensurePodCgroup({...root, rootDir: await temporaryDirectory()}, POD, POD_LIMITS);
    expect(await limitAllPods(root)).toBe(true);
    const more = {...root, allPods: {path: '/kubepods', limits: {...LIMITS, pids: 2000n}}};
    expect(await limitAllPods(more)).toBe(false);
    expect(await limitsOf(root)).toEqual(expected);
  });

  test('a cgroup that resources are reserved for gets their limits, and must exist', async () => {
    const root = await aCgroupRoot(version);
    await expect(limitExistingCgroup(root, '/kubepods', {pids: 5n})).rejects.toThrow(
      version === 1
        ? `cgroup ["kubepods"] has some missing paths: ${root.mount}/cpu/kubepods, `
        : 'could not read controllers for cgroup ["kubepods"]: open ',
    );
    for (const name of version === 2 ? [''] : CONTROLLERS) await mkdir(join(root.mount, name, 'kubepods'));
    if (version === 2)
      await writeFile(join(root.mount, 'kubepods/cgroup.controllers'), CONTROLLERS.join(' '));
    await limitExistingCgroup(root, '/kubepods', {pids: 5n});
    expect(await limitsOf(root)).toEqual(['', '', '5', '']);
  });
});

const RESERVED = {cpuMilli: 500n, memoryBytes: GI, ephemeralStorageBytes: 2n * GI, pids: 100n};
const EVICTION = {memoryBytes: 100n * 1024n * 1024n, ephemeralStorageBytes: GI};
const NODE = {
  ...{cpuMilli: 2000n, memoryBytes: 4n * GI, ephemeralStorageBytes: 10n * GI},
  ...{maxPids: 32_768n, hugePageBytes: new Map([['2MB', 4_194_304n]])},
};

test('reserved resources and huge pages reduce what pods can request, beside the eviction reserve', () => {
  const reservations = {total: RESERVED, eviction: EVICTION, limitsPods: true, cgroups: []};
  expect(nodeAllocatable({...NODE, reservations})).toEqual({
    cpuMilli: 1500n,
    memoryBytes: 3n * GI - 100n * 1024n * 1024n - 4_194_304n,
    ephemeralStorageBytes: 7n * GI,
  });
});

test('all pods together are limited to what is not reserved, or to the node if that is not enforced', () => {
  const limits = (limitsPods: boolean) =>
    allPodsLimits({...NODE, reservations: {total: RESERVED, eviction: EVICTION, limitsPods, cgroups: []}});
  const {hugePageBytes: hugePages} = NODE;
  expect(limits(true)).toEqual({cpuShares: 1536n, memoryBytes: 3n * GI, pids: 32_668n, hugePages});
  expect(limits(false)).toEqual({cpuShares: 2048n, memoryBytes: 4n * GI, pids: 32_768n, hugePages});
  expect(allPodsLimits(NODE)).toBeUndefined();
});
