import {describe, expect, test} from 'vitest';
import {aCgroupTree} from '../../../../fakes/a-cgroup-tree.js';
import {cgroupStats} from '../../../../../src/kubelet/server/stats/cgroups/cgroup-stats.js';
import {readCgroupUsage} from '../../../../../src/kubelet/server/stats/cgroups/read-cgroup-usage.js';
import {findOwnCgroup} from '../../../../../src/kubelet/server/stats/cgroups/system-containers.js';

const PATH = '/kubepods/pod1';

describe.each([1, 2] as const)('with cgroup v%d', (version) => {
  test('usage and limits are read', async () => {
    const mount = await aCgroupTree(version, [PATH]);
    const usage = readCgroupUsage({mount, version}, PATH, 5);
    expect(usage).toMatchObject({
      timeNanos: 5_000_000n,
      cpu: {
        ...{usageNanos: 3_000_000_000n, userNanos: 2_000_000_000n, systemNanos: 1_000_000_000n},
        ...{periods: 40n, throttledPeriods: 4n, throttledNanos: 250_000_000n},
        ...{burstPeriods: 1n, burstNanos: 500_000n, quota: 50_000n, period: 100_000n},
        shares: version === 2 ? 500n : 512n,
      },
      memory: {
        ...{usage: 10_000n, maxUsage: 20_000n, cache: 4000n, rss: 5000n, swap: 0n, mappedFile: 300n},
        ...{activeFile: 3000n, inactiveFile: 1000n, pageFaults: 70n, majorPageFaults: 7n},
        ...{limitHits: 9n, oomKills: 1n, limit: 67_108_864n, swapLimit: 0n, reservation: 4096n},
      },
      disks: [{readBytes: 4096n, writtenBytes: 8192n, reads: 1n, writes: 2n}],
      pids: ['1', '2147483646'],
      threads: 5n,
      maxThreads: 100n,
    });
    expect(usage?.cpu?.psi).toEqual(
      version === 2
        ? {Full: undefined, Some: {Total: 1_500_000n, Avg10: 1, Avg60: 0.5, Avg300: 0.1}}
        : undefined,
    );
  });

  test('the stats of a cgroup have its working set, what is available, and pressure', async () => {
    const mount = await aCgroupTree(version, [PATH]);
    const {memory, swap, io} = cgroupStats(readCgroupUsage({mount, version}, PATH, 0)!);
    expect(memory?.workingSetBytes).toEqual({value: 9000n});
    expect(memory?.availableBytes).toEqual({value: 67_099_864n});
    expect(swap).not.toHaveProperty('swapAvailableBytes');
    expect(io?.psi).toEqual({});
  });

  test('a cgroup that does not exist has no usage', async () => {
    const mount = await aCgroupTree(version, [PATH]);
    expect(readCgroupUsage({mount, version}, '/kubepods/pod2', 0)).toBeUndefined();
  });
});

test('the cgroup of a process is that of its CPU and memory, or none if they differ', () => {
  const v1 = '5:memory:/a\n4:cpu,cpuacct:/a\n1:name=systemd:/b\n0::/\n';
  expect(findOwnCgroup(v1, 1)).toBe('/b');
  expect(findOwnCgroup(v1.replace('1:name=systemd:/b\n', ''), 1)).toBe('/a');
  expect(findOwnCgroup(v1.replace('memory:/a', 'memory:/c'), 1)).toBeUndefined();
  expect(findOwnCgroup('0::/kubelet.service\n', 2)).toBe('/kubelet.service');
});
