import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import type {CgroupRoot} from '../../../../src/kubelet/resources/cgroup-root.js';
import {readPodCgroup, setPodCgroup} from '../../../../src/kubelet/managers/cgroups/pod-cgroup.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';

const POD = '/kubepods/burstable/podu1';

/** Creates the cgroup of a pod with these files in ordinary directories. */
async function createCgroup(version: 1 | 2, files: Readonly<Record<string, string>>): Promise<CgroupRoot> {
  const mount = await temporaryDirectory();
  if (version === 2) await writeFile(join(mount, 'cgroup.controllers'), 'cpu memory pids');
  for (const [path, text] of Object.entries(files)) {
    const [controller = '', file = ''] = path.split('/');
    const directory = join(mount, version === 1 ? controller : '', POD);
    await mkdir(directory, {recursive: true});
    await writeFile(join(directory, file), text);
  }
  return {mount, version, rootDir: await temporaryDirectory()};
}

describe('on cgroup v1', () => {
  const FILES = {
    'cpu/cpu.shares': '204\n',
    'cpu/cpu.cfs_quota_us': '20000\n',
    'cpu/cpu.cfs_period_us': '100000\n',
    'memory/memory.limit_in_bytes': '134217728\n',
    'memory/memory.usage_in_bytes': '4096\n',
  };

  test('limits and usage of a pod are read', async () => {
    expect(await readPodCgroup(await createCgroup(1, FILES), POD)).toEqual({
      cpuShares: 204n,
      cpuQuota: {quota: 20_000n, period: 100_000n},
      memoryBytes: 134_217_728n,
      memoryUsageBytes: 4096n,
    });
  });

  test('unlimited values are omitted', async () => {
    const unlimited = {
      'cpu/cpu.cfs_quota_us': '-1\n',
      'memory/memory.limit_in_bytes': '9223372036854771712\n',
    };
    expect(await readPodCgroup(await createCgroup(1, {...FILES, ...unlimited}), POD)).toEqual({
      cpuShares: 204n,
      cpuQuota: {quota: -1n, period: 100_000n},
      memoryUsageBytes: 4096n,
    });
  });

  test('only the given limits are written', async () => {
    const cgroupRoot = await createCgroup(1, FILES);
    await setPodCgroup(cgroupRoot, POD, {memoryBytes: 5n});
    await setPodCgroup(cgroupRoot, POD, {cpuQuota: {quota: 40_000n, period: 100_000n}});
    expect(await readPodCgroup(cgroupRoot, POD)).toEqual({
      cpuShares: 204n,
      cpuQuota: {quota: 40_000n, period: 100_000n},
      memoryBytes: 5n,
      memoryUsageBytes: 4096n,
    });
  });
});

describe('on cgroup v2', () => {
  const FILES = {
    '/cpu.weight': '20\n',
    '/cpu.max': 'max 100000\n',
    '/memory.max': 'max\n',
    '/memory.current': '4096\n',
  };

  test('limits and usage of a pod are read and written', async () => {
    const cgroupRoot = await createCgroup(2, FILES);
    expect(await readPodCgroup(cgroupRoot, POD)).toEqual({
      cpuShares: 501n,
      cpuQuota: {quota: -1n, period: 100_000n},
      memoryUsageBytes: 4096n,
    });
    await setPodCgroup(cgroupRoot, POD, {cpuShares: 1024n, memoryBytes: 5n});
    expect(await readFile(join(cgroupRoot.mount, POD, 'cpu.weight'), 'utf8')).toBe('39');
    expect(await readPodCgroup(cgroupRoot, POD)).toMatchObject({memoryBytes: 5n});
  });
});

test('a pod without a cgroup has no values', async () => {
  expect(await readPodCgroup(await createCgroup(1, {}), POD)).toBeUndefined();
});
