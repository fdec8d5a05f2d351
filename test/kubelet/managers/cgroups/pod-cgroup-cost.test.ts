import fs from 'node:fs';
import {mkdir, writeFile} from 'node:fs/promises';
import {syncBuiltinESMExports} from 'node:module';
import {join} from 'node:path';
import {expect, onTestFinished, test, vi, type MockInstance} from 'vitest';
import {ensurePodCgroup} from '../../../../src/kubelet/managers/cgroups/pod-cgroup.js';
import type {CgroupRoot} from '../../../../src/kubelet/resources/cgroup-root.js';
import {countFileRequests} from '../../../base/count-file-requests.js';
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
/** Maximum number of calls on files that are handed to other threads for a pod's cgroups, beyond one for each hierarchy. */
const MAX_FILE_REQUESTS = 14;

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

test('pods that start one after the other hand few calls on files to other threads', async () => {
  const cgroupRoot = await createV1Root();
  await ensure(cgroupRoot, 'first');
  using requests = countFileRequests();

  for (let index = 0; index < PODS; index += 1) await ensure(cgroupRoot, `pod${index}`);

  expect(requests.count / PODS - HIERARCHIES).toBeLessThanOrEqual(MAX_FILE_REQUESTS);
});
