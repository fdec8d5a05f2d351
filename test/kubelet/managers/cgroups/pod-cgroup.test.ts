import type * as FsPromises from 'node:fs/promises';
import {mkdir, readdir, rmdir} from 'node:fs/promises';
import {join} from 'node:path';
import {beforeEach, expect, test, vi} from 'vitest';
import {SystemError} from '../../../../src/base/errors.js';
import {podUid} from '../../../../src/cri/index.js';
import type {CgroupRoot} from '../../../../src/kubelet/contract/node-facts.js';
import {podCgroupParents} from '../../../../src/kubelet/managers/kuberuntime/config/resources/pod-cgroup-parent.js';
import {removePodCgroup} from '../../../../src/kubelet/managers/cgroups/pod-cgroup.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {FakeClock} from '../../../fakes/fake-clock.js';

// Ordinary directories are never busy.
vi.mock('node:fs/promises', async (load) => {
  const original = await load<typeof FsPromises>();
  return {...original, rmdir: vi.fn(original.rmdir)};
});

let clock = new FakeClock({sleep: 'instant'});

const busy = Object.assign(new Error('EBUSY'), {code: 'EBUSY', errno: -16, syscall: 'rmdir'});

beforeEach(() => {
  clock = new FakeClock({sleep: 'instant'});
  vi.mocked(rmdir).mockClear();
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

test('a busy cgroup is retried', async () => {
  const mount = await temporaryDirectory();
  await mkdir(join(mount, 'kubepods/podu1/container'), {recursive: true});
  for (let times = 0; times < 4; times++) vi.mocked(rmdir).mockRejectedValueOnce(busy);
  await removePodCgroup(await createCgroupRoot(mount, 2), parents, clock);
  expect(await readdir(join(mount, 'kubepods'))).toEqual([]);
  expect(clock.sleeps).toEqual([100, 100, 100, 100]);
});

test('a cgroup that stays busy is reported with a hint', async () => {
  const mount = await temporaryDirectory();
  const child = join(mount, 'kubepods/podu1/container');
  await mkdir(child, {recursive: true});
  for (let times = 0; times < 5; times++) vi.mocked(rmdir).mockRejectedValueOnce(busy);
  const error: unknown = await removePodCgroup(await createCgroupRoot(mount, 2), parents, clock).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(SystemError);
  expect(error).toMatchObject({
    message: `removing the cgroup "${child}": resource busy or locked`,
    hint: `stop the processes listed in ${child}/cgroup.procs`,
  });
  expect(clock.sleeps).toEqual([100, 100, 100, 100]);
});
