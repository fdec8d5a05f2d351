import fs from 'node:fs';
import promises, {copyFile, mkdir, rename, writeFile} from 'node:fs/promises';
import {syncBuiltinESMExports} from 'node:module';
import {join} from 'node:path';
import {expect, onTestFinished, test, vi, type MockInstance} from 'vitest';
import {ensurePodCgroup} from '../../../../src/kubelet/managers/cgroups/pod-cgroup.js';
import type {CgroupRoot} from '../../../../src/kubelet/resources/cgroup-root.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';

const PODS = 20;
const LIMITED = ['cpu', 'memory', 'pids'];
const OTHERS = ['blkio', 'cpuset', 'devices', 'freezer', 'unified'];
const HIERARCHIES = LIMITED.length + OTHERS.length;

/**
 * Maximum number of look-ups of a pod's cgroup in a hierarchy: of the hierarchy, the cgroup above the pod, and the pod's cgroup up to
 * three times, since another process may create it. A number here may be lowered; raise it only with a reason.
 */
const MAX_LOOKUPS = 3.6;
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

function spyOnLookups(): MockInstance {
  const lookups = vi.spyOn(fs, 'statSync');
  syncBuiltinESMExports();
  onTestFinished(() => {
    lookups.mockRestore();
    syncBuiltinESMExports();
  });
  return lookups;
}

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
  const lookups = spyOnLookups();

  await Promise.all(Array.from({length: PODS}, async (_, index) => ensure(cgroupRoot, `pod${index}`)));

  expect(lookups.mock.calls.length / PODS / HIERARCHIES).toBeLessThanOrEqual(MAX_LOOKUPS);
});

test('the ledger is read again only after another process has written it', async () => {
  const cgroupRoot = await createV1Root();
  const ledger = join(cgroupRoot.rootDir, 'kcri', 'cgroups.json');
  await ensure(cgroupRoot, 'first');
  const reads = vi.spyOn(promises, 'readFile');
  syncBuiltinESMExports();
  onTestFinished(() => {
    reads.mockRestore();
    syncBuiltinESMExports();
  });
  const readsOfLedger = (): number => reads.mock.calls.filter(([path]) => path === ledger).length;

  for (let index = 0; index < PODS; index += 1) await ensure(cgroupRoot, `pod${index}`);
  expect(readsOfLedger()).toBe(0);

  await copyFile(ledger, `${ledger}.other`);
  await rename(`${ledger}.other`, ledger);
  await ensure(cgroupRoot, 'last');
  expect(readsOfLedger()).toBe(1);
});
