import fs, {readFileSync} from 'node:fs';
import promises, {copyFile, mkdir, rename, writeFile} from 'node:fs/promises';
import {syncBuiltinESMExports} from 'node:module';
import {basename, join} from 'node:path';
import {expect, onTestFinished, test, vi, type MockInstance} from 'vitest';
import {ensurePodCgroup, setPodCgroup} from '../../../../src/kubelet/managers/cgroups/pod-cgroup.js';
import type {CgroupRoot} from '../../../../src/kubelet/resources/cgroup-root.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';

const PODS = 20;
const LIMITED = ['cpu', 'memory', 'pids'];
const OTHERS = ['blkio', 'cpuset', 'devices', 'freezer', 'unified'];
const HIERARCHIES = LIMITED.length + OTHERS.length;

/**
 * Maximum number of look-ups for a pod's cgroup in a hierarchy: of the hierarchy, of the cgroup above the pod and, in hierarchies with
 * limits, of the pod's cgroup, since another process may have created it. A number here may be lowered; raise it only with a reason.
 */
const MAX_LOOKUPS = 2.3;
/** Number of pods that share a lock. */
const PODS_PER_LOCK = 8;

/** Creates directories like those of cgroup v1. */
async function createV1Root(): Promise<CgroupRoot> {
  const mount = await temporaryDirectory();
  for (const name of [...LIMITED, ...OTHERS]) {
    await mkdir(join(mount, name));
    await writeFile(join(mount, name, 'cgroup.procs'), '');
  }
  for (const file of ['cpuset.cpus', 'cpuset.mems']) await writeFile(join(mount, 'cpuset', file), '0\n');
  return {mount, version: 1, rootDir: await temporaryDirectory()};
}

/** Records the calls of a function of a module of Node.js until the end of the test. */
function spyOn<T extends object>(module: T, name: keyof T & string): MockInstance {
  const calls = vi.spyOn(module as Record<string, () => unknown>, name);
  syncBuiltinESMExports();
  onTestFinished(() => {
    calls.mockRestore();
    syncBuiltinESMExports();
  });
  return calls;
}

const ledgerOf = ({rootDir}: CgroupRoot): string => join(rootDir, 'kcri', 'cgroups.json');

/** Creates the cgroups of a pod. */
async function ensure(cgroupRoot: CgroupRoot, name: string): Promise<void> {
  await ensurePodCgroup(cgroupRoot, `/kcri/kubepods/besteffort/${name}`, {
    cpuShares: 2n,
    hugePages: new Map(),
  });
}

test('pods that start at once look at the cgroups above them once for each hierarchy', async () => {
  const cgroupRoot = await createV1Root();
  await ensure(cgroupRoot, 'first');
  const lookups = spyOn(fs, 'statSync');

  await Promise.all(Array.from({length: PODS}, async (_, index) => ensure(cgroupRoot, `pod${index}`)));

  expect(lookups.mock.calls.length / PODS / HIERARCHIES).toBeLessThanOrEqual(MAX_LOOKUPS);
});

test('the calls that create and limit cgroups are not handed to other threads', async () => {
  const cgroupRoot = await createV1Root();
  const calls = [spyOn(promises, 'mkdir'), spyOn(promises, 'writeFile')];
  const limits = {cpuShares: 2n, memoryBytes: 1n << 30n, pids: 100n, hugePages: new Map<string, bigint>()};

  for (const name of ['first', 'second']) await ensurePodCgroup(cgroupRoot, `/kcri/kubepods/${name}`, limits);

  expect(
    readFileSync(join(cgroupRoot.mount, 'memory/kcri/kubepods/second/memory.limit_in_bytes'), 'utf8'),
  ).toBe(String(limits.memoryBytes));
  const paths = calls.flatMap((each) => each.mock.calls.map(([path]) => String(path)));
  expect(paths.filter((path) => path.startsWith(cgroupRoot.mount))).toEqual([]);
});

test('a limit of memory that may be in use is written on another thread, and the others on this one', async () => {
  const cgroupRoot = await createV1Root();
  await ensure(cgroupRoot, 'first');
  const writes = spyOn(promises, 'writeFile');
  const limits = {cpuQuota: {quota: 1000n, period: 100_000n}, memoryBytes: 1n << 30n, pids: 100n};

  await setPodCgroup(cgroupRoot, '/kcri/kubepods/besteffort/first', limits);

  const files = writes.mock.calls.map(([path]) => basename(String(path)));
  expect(files).toEqual(['memory.limit_in_bytes']);
});

test('pods that start at once share the writes of the ledger', async () => {
  const cgroupRoot = await createV1Root();
  await ensure(cgroupRoot, 'first');
  const renames = spyOn(promises, 'rename');

  await Promise.all(Array.from({length: PODS}, async (_, index) => ensure(cgroupRoot, `pod${index}`)));

  const writes = renames.mock.calls.filter(([, path]) => path === ledgerOf(cgroupRoot));
  // Before and after the creation of the cgroups of all that share a lock.
  expect(writes).toHaveLength(2 * Math.ceil(PODS / PODS_PER_LOCK));
});

test('the ledger is read again only after another process has written it', async () => {
  const cgroupRoot = await createV1Root();
  const ledger = ledgerOf(cgroupRoot);
  await ensure(cgroupRoot, 'first');
  const reads = spyOn(promises, 'readFile');
  const readsOfLedger = (): number => reads.mock.calls.filter(([path]) => path === ledger).length;

  for (let index = 0; index < PODS; index += 1) await ensure(cgroupRoot, `pod${index}`);
  expect(readsOfLedger()).toBe(0);

  await copyFile(ledger, `${ledger}.other`);
  await rename(`${ledger}.other`, ledger);
  await ensure(cgroupRoot, 'last');
  expect(readsOfLedger()).toBe(1);
});
