import {randomBytes} from 'node:crypto';
import {spawn, type ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import {existsSync, readFileSync} from 'node:fs';
import {mkdir, rmdir, writeFile} from 'node:fs/promises';
import {describe, expect, onTestFinished, test} from 'vitest';
import {systemClock} from '../../../../src/base/clock.js';
import type {CgroupRoot} from '../../../../src/kubelet/resources/cgroup-root.js';
import type {CgroupLimits} from '../../../../src/kubelet/contract/resources/cgroup-limits.js';
import {ensurePodCgroup} from '../../../../src/kubelet/managers/cgroups/pod-cgroup.js';
import {removePodCgroup} from '../../../../src/kubelet/managers/cgroups/remove-pod-cgroup.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {FakeClock} from '../../../fakes/fake-clock.js';
import {until} from '../../../base/until.js';
import {listCgroupsAt} from '../../../e2e/harness/leftovers.js';

const LIMITS: CgroupLimits = {cpuShares: 2n, hugePages: new Map()};
const MOUNT = '/sys/fs/cgroup';
/** Mount of cgroup v2: the only one, or beside those of cgroup v1. */
const UNIFIED = [MOUNT, `${MOUNT}/unified`].find((mount) => existsSync(`${mount}/cgroup.controllers`));
const isRoot = process.getuid?.() === 0;

/** A pod cgroup below a directory of its own in this machine's cgroups. */
interface RealPod {
  readonly cgroupRoot: CgroupRoot;
  readonly root: string;
  readonly path: string;
}

async function createRealPod(mount: string, version: 1 | 2): Promise<RealPod> {
  const root = `/kcri-test-${randomBytes(4).toString('hex')}`;
  onTestFinished(() => {
    expect(listCgroupsAt(root)).toEqual([]);
  });
  const cgroupRoot = {mount, version, rootDir: await temporaryDirectory()};
  return {cgroupRoot, root, path: `${root}/kubepods/besteffort/podu1`};
}

/** Starts a process in the cgroups. */
async function startProcessIn(...directories: readonly string[]): Promise<ChildProcess> {
  const child = spawn('sleep', ['3600']);
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  await once(child, 'spawn');
  for (const directory of directories) await writeFile(`${directory}/cgroup.procs`, String(child.pid));
  return child;
}

/** Resolves with the signal that ended the process. */
async function endOf(child: ChildProcess): Promise<unknown> {
  await until(() => child.exitCode !== null || child.signalCode !== null);
  return child.signalCode;
}

describe.skipIf(!isRoot || !existsSync(`${MOUNT}/memory`))('cgroup v1 (needs root)', () => {
  test('a process in a container’s cgroup is killed, in whichever hierarchy it is', async () => {
    const {cgroupRoot, path} = await createRealPod(MOUNT, 1);
    await ensurePodCgroup(cgroupRoot, path, LIMITS);
    const containers = ['memory', 'devices'].map((name) => `${MOUNT}/${name}${path}/container`);
    for (const container of containers) await mkdir(container);
    const children = await Promise.all(containers.map(async (container) => await startProcessIn(container)));

    await removePodCgroup(cgroupRoot, [path], systemClock);

    expect(await Promise.all(children.map(endOf))).toEqual(['SIGKILL', 'SIGKILL']);
  });

  test.skipIf(!existsSync(`${MOUNT}/freezer`))('a frozen process is killed', async () => {
    const {cgroupRoot, path} = await createRealPod(MOUNT, 1);
    await ensurePodCgroup(cgroupRoot, path, LIMITS);
    const frozen = `${MOUNT}/freezer${path}`;
    const child = await startProcessIn(frozen, `${MOUNT}/cpu${path}`);
    await writeFile(`${frozen}/freezer.state`, 'FROZEN');
    await until(() => readFileSync(`${frozen}/freezer.state`, 'utf8') === 'FROZEN\n');

    await removePodCgroup(cgroupRoot, [path], systemClock);

    expect(await endOf(child)).toBe('SIGKILL');
  });

  test('an interrupted removal is completed, although the first cgroup no longer exists', async () => {
    const {cgroupRoot, path} = await createRealPod(MOUNT, 1);
    await ensurePodCgroup(cgroupRoot, path, LIMITS);
    const child = await startProcessIn(`${MOUNT}/memory${path}`);
    await rmdir(`${MOUNT}/cpu${path}`);

    await removePodCgroup(cgroupRoot, [path], systemClock);

    expect(await endOf(child)).toBe('SIGKILL');
  });

  /** Creates a pod cgroup of another program with a process in it. */
  async function createForeignPod({root, path}: RealPod): Promise<{cgroup: string; child: ChildProcess}> {
    const cgroup = `${MOUNT}/memory${path}`;
    await mkdir(cgroup, {recursive: true});
    const child = await startProcessIn(cgroup);
    onTestFinished(async () => {
      await writeFile(`${MOUNT}/memory/cgroup.procs`, String(child.pid));
      for (const level of ['/kubepods/besteffort/podu1', '/kubepods/besteffort', '/kubepods', ''])
        for (const directory of listCgroupsAt(`${root}${level}`)) await rmdir(directory);
    });
    return {cgroup, child};
  }

  test('a process in a cgroup that kcri did not create is named, but not killed', async () => {
    const pod = await createRealPod(MOUNT, 1);
    const {cgroup, child} = await createForeignPod(pod);
    await ensurePodCgroup(pod.cgroupRoot, pod.path, LIMITS);
    const clock = new FakeClock({sleep: 'instant'});

    await expect(removePodCgroup(pod.cgroupRoot, [pod.path], clock)).rejects.toMatchObject({
      message: `removing the cgroup "${cgroup}": resource busy or locked`,
      hint: `stop the processes listed in ${cgroup}/cgroup.procs`,
    });

    expect(child.signalCode).toBeNull();
    expect(clock.sleeps).toEqual([100, 100, 100, 100]);
  });

  test('a cgroup is removed once its process has left it', async () => {
    const pod = await createRealPod(MOUNT, 1);
    const {cgroup, child} = await createForeignPod(pod);
    const sleeps: number[] = [];
    const sleep = async (ms: number): Promise<void> => {
      sleeps.push(ms);
      await writeFile(`${MOUNT}/memory/cgroup.procs`, String(child.pid));
    };

    await removePodCgroup(pod.cgroupRoot, [pod.path], Object.assign(new FakeClock(), {sleep}));

    expect([existsSync(cgroup), sleeps]).toEqual([false, [100]]);
  });

  test('the parents of a pod’s cgroup are removed from every hierarchy', async () => {
    const {cgroupRoot, root, path} = await createRealPod(MOUNT, 1);
    await ensurePodCgroup(cgroupRoot, path, LIMITS);
    // The runtime creates the container's cgroup in every hierarchy, with missing parents.
    const hierarchies = listCgroupsAt('/').map((directory) => directory.replace(/\/$/, ''));
    for (const hierarchy of hierarchies) await mkdir(`${hierarchy}${path}/container`, {recursive: true});

    await removePodCgroup(cgroupRoot, [path], systemClock);

    expect(listCgroupsAt(root)).toEqual([]);
  });
});

describe.skipIf(!isRoot || UNIFIED === undefined)('cgroup v2 (needs root)', () => {
  test('the processes of a pod are killed, also those below its containers and frozen ones', async () => {
    // Below a cgroup without controllers, so that none is enabled on this machine.
    const mount = `${UNIFIED}/kcri-test-${randomBytes(4).toString('hex')}`;
    await mkdir(mount);
    onTestFinished(async () => {
      await rmdir(mount);
    });
    const {cgroupRoot, path} = await createRealPod(mount, 2);
    await ensurePodCgroup(cgroupRoot, path, LIMITS);
    const pod = `${mount}${path}`;
    await mkdir(`${pod}/container/nested`, {recursive: true});
    const children = [
      await startProcessIn(`${pod}/container`),
      await startProcessIn(`${pod}/container/nested`),
    ];
    await writeFile(`${pod}/container/nested/cgroup.freeze`, '1');

    await removePodCgroup(cgroupRoot, [path], systemClock);

    expect(await Promise.all(children.map(endOf))).toEqual(['SIGKILL', 'SIGKILL']);
  });
});
