import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdir, readdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {beforeEach, expect, onTestFinished, test} from 'vitest';
import {SystemError} from '../../../../src/base/errors.js';
import {podUid} from '../../../../src/cri/index.js';
import type {CgroupRoot} from '../../../../src/kubelet/resources/cgroup-root.js';
import {podCgroupParents} from '../../../../src/kubelet/resources/pod-cgroup-parent.js';
import {CreatedCgroups} from '../../../../src/kubelet/managers/cgroups/created-cgroups.js';
import {ensurePodCgroup} from '../../../../src/kubelet/managers/cgroups/pod-cgroup.js';
import {removePodCgroup} from '../../../../src/kubelet/managers/cgroups/remove-pod-cgroup.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {FakeClock} from '../../../fakes/fake-clock.js';

let clock = new FakeClock({sleep: 'instant'});

beforeEach(() => {
  clock = new FakeClock({sleep: 'instant'});
});

async function createCgroupRoot(mount: string, version: 1 | 2): Promise<CgroupRoot> {
  return {mount, version, rootDir: await temporaryDirectory()};
}

const parents = podCgroupParents(podUid('u1'), {
  version: 2,
  driver: 'cgroupfs',
  root: '',
  swapAccounting: false,
});

test.each(['kubepods/podu1', 'kubepods/burstable/podu1', 'kubepods/besteffort/podu1'])(
  'the cgroup %s of a pod is removed regardless of its current QoS class, and others are kept',
  async (path) => {
    const mount = await temporaryDirectory();
    await mkdir(join(mount, path, 'container'), {recursive: true});
    await mkdir(join(mount, path, '../podu2'));
    await removePodCgroup(await createCgroupRoot(mount, 2), parents, clock);
    expect(await readdir(join(mount, path, '..'))).toEqual(['podu2']);
    expect(clock.sleeps).toEqual([]);
  },
);

test('on cgroup v1 it is removed from every hierarchy', async () => {
  const mount = await temporaryDirectory();
  for (const controller of ['cpu', 'memory'])
    await mkdir(join(mount, controller, 'kubepods/podu1'), {recursive: true});
  await mkdir(join(mount, 'pids'));
  await removePodCgroup(await createCgroupRoot(mount, 1), parents, clock);
  expect(await readdir(join(mount, 'cpu/kubepods'))).toEqual([]);
  expect(await readdir(join(mount, 'memory/kubepods'))).toEqual([]);
});

test('cgroups that another process has removed leave the ledger', async () => {
  const cgroupRoot = await createCgroupRoot(await temporaryDirectory(), 2);
  const levels = ['/kubepods', '/kubepods/besteffort', '/kubepods/besteffort/podu1'];
  await new CreatedCgroups(cgroupRoot.rootDir).begin(levels.map((level) => cgroupRoot.mount + level));
  await removePodCgroup(cgroupRoot, parents, clock);
  expect(await readdir(join(cgroupRoot.rootDir, 'kcri'))).toEqual([]);
});

test('the kernel kills the processes of a cgroup at once where it can, instead of kcri those that are listed', async () => {
  const cgroupRoot = await createCgroupRoot(await temporaryDirectory(), 2);
  const pod = join(cgroupRoot.mount, 'kubepods/podu1');
  await ensurePodCgroup(cgroupRoot, '/kubepods/podu1', {cpuShares: 2n, hugePages: new Map()});
  const listed = spawn('sleep', ['3600']);
  onTestFinished(() => {
    listed.kill('SIGKILL');
  });
  await once(listed, 'spawn');
  await writeFile(join(pod, 'cgroup.procs'), String(listed.pid));
  await writeFile(join(pod, 'cgroup.kill'), '');
  // The files of an ordinary directory keep it from being removed.
  await expect(removePodCgroup(cgroupRoot, ['/kubepods/podu1'], clock)).rejects.toThrow(SystemError);
  expect(await readFile(join(pod, 'cgroup.kill'), 'utf8')).toBe('1');
  expect([listed.exitCode, listed.signalCode]).toEqual([null, null]);
});
