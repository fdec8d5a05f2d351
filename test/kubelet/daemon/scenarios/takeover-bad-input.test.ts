import {execFileSync} from 'node:child_process';
import {chown, lstat, mkdir, readdir, readFile, rm, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {mountedDirectory} from '../../../base/mounted-directory.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {GOLDEN_NODE} from '../../../golden/golden-cases.js';
import {aContainerSpec, aManifest} from '../../../commands/command-testbed.js';
import {DaemonTestbed, type DaemonTestbedOptions} from '../daemon-testbed.js';
import {ClusterTestbed} from '../../cluster/cluster-testbed.js';

/* Takeovers of a root directory, a runtime or pods in an unusual state. */

const MINUTE_MS = 60_000;
const CHANGES = /^(RunPodSandbox|Stop|Remove|Create|Start|Update)/;
const OTHER_USER = 65_533;

/** Starts a pod and stops its kubelet, and then removes what a kubelet does not store. */
async function leaveNode(options: DaemonTestbedOptions = {}): Promise<DaemonTestbed> {
  const web = aManifest({name: 'web', containers: [aContainerSpec('main')]});
  const testbed = await DaemonTestbed.start({manifests: {'web.yaml': web}, ...options});
  await testbed.until('the pod runs', () => testbed.statusOf('web').ready === 1);
  await testbed.stop();
  await rm(join(testbed.rootDir, 'kcri'), {recursive: true});
  testbed.fake.clearCalls();
  return testbed;
}

const changes = ({fake}: DaemonTestbed): readonly string[] =>
  fake.calls.flatMap(({method}) => (CHANGES.test(method) ? [method] : []));

async function expectKept(testbed: DaemonTestbed): Promise<void> {
  testbed.run();
  await testbed.until('the pod is known', () => testbed.statusOf('web').ready === 1);
  await testbed.clock.sleep(MINUTE_MS);
  expect(changes(testbed)).toEqual([]);
}

/** Returns the mount points below a directory. */
async function mountsBelow(directory: string): Promise<readonly string[]> {
  const lines = (await readFile('/proc/self/mountinfo', 'utf8')).trim().split('\n');
  return lines.map((line) => line.split(' ')[4] ?? '').filter((path) => path.startsWith(`${directory}/`));
}

/** Mounting and other owners require root. */
describe.skipIf(process.getuid?.() !== 0)('a root directory (needs root)', () => {
  test('on a file system of its own is taken over', async () => {
    await using testbed = await leaveNode({rootDir: await mountedDirectory()});
    await expectKept(testbed);
  });

  test('of another user is taken over, and files of kcri in it are of root', async () => {
    await using testbed = await leaveNode();
    const paths = await readdir(testbed.rootDir, {recursive: true});
    for (const path of ['', ...paths]) await chown(join(testbed.rootDir, path), OTHER_USER, OTHER_USER);
    await expectKept(testbed);
    const records = join(testbed.rootDir, 'kcri/records');
    for (const path of [records, ...(await readdir(records)).map((name) => join(records, name))])
      expect(await lstat(path)).toMatchObject({uid: 0, gid: 0});
  });

  test('behind a link to another file system is taken over, and nothing stays mounted in it', async () => {
    const disk = await mountedDirectory();
    const link = join(await temporaryDirectory(), 'kubelet');
    await symlink(disk, link);
    const volumes = [{name: 'memory', emptyDir: {medium: 'Memory'}}];
    const containers = [aContainerSpec('main', {volumeMounts: [{name: 'memory', mountPath: '/memory'}]})];
    const web = aManifest({name: 'web', containers, volumes, terminationGracePeriodSeconds: 0});
    await using testbed = await leaveNode({rootDir: link, manifests: {'web.yaml': web}});
    expect(await mountsBelow(disk)).toEqual([expect.stringContaining('/kubernetes.io~empty-dir/memory')]);
    await expectKept(testbed);
    await testbed.remove('web.yaml');
    await testbed.untilAllRemoved();
    expect(await mountsBelow(disk)).toEqual([]);
  });

  test('that is read-only keeps kcri from starting, and is taken over when it is writable', async () => {
    const rootDir = await mountedDirectory();
    await using testbed = await leaveNode({rootDir});
    execFileSync('mount', ['-o', 'remount,ro', rootDir]);
    testbed.run();
    await expect(testbed.ended).rejects.toThrow(
      `creating the directory "${rootDir}/kcri/locks": read-only file system`,
    );
    expect(changes(testbed)).toEqual([]);
    execFileSync('mount', ['-o', 'remount,rw', rootDir]);
    await expectKept(testbed);
  });
});

test('a pod whose runtime was replaced by an empty one is started once, with the next attempt', async () => {
  await using testbed = await leaveNode();
  for (const container of testbed.ownContainers) testbed.fake.state.containers.delete(container.id);
  for (const {id, config} of testbed.fake.sandboxes)
    if (config.metadata?.name === 'web-goldennode') testbed.fake.state.sandboxes.delete(id);
  testbed.run();
  await testbed.until('the pod runs', () => testbed.statusOf('web').ready === 1);
  await testbed.clock.sleep(MINUTE_MS);
  expect(testbed.running).toEqual(['web-goldennode/main/1']);
  expect(testbed.maxConcurrentInstances).toBe(1);
  await testbed.remove('web.yaml');
  await testbed.untilAllRemoved();
});

test('of two runtimes, the other one keeps what a kubelet has left there', async () => {
  await using testbed = await leaveNode();
  await using other = await DaemonTestbed.start({rootDir: testbed.rootDir, logsDir: testbed.logsDir});
  // Without a pod in its runtime or in its sources, the directory is an orphan of the kubelet that uses the root directory.
  await other.until(
    'the daemon has cleaned up',
    async () => (await other.listRemains())['podDirs']?.length === 0,
  );
  expect(changes(testbed)).toEqual([]);
  expect(testbed.running).toEqual(['web-goldennode/main/0']);
});

test('a ledger of cgroups that cannot be read keeps kcri from starting, and harms no pod', async () => {
  await using testbed = await leaveNode();
  const cgroupMount = await temporaryDirectory();
  await writeFile(join(cgroupMount, 'cgroup.controllers'), 'cpu memory\n');
  testbed.configure({cgroupMount, cgroup: {...GOLDEN_NODE.cgroup, version: 2, driver: 'cgroupfs'}});
  const pods = await readdir(join(testbed.rootDir, 'pods'));
  for (const uid of pods) await mkdir(join(cgroupMount, `kubepods/besteffort/pod${uid}`), {recursive: true});
  const ledger = join(testbed.rootDir, 'kcri/cgroups.json');
  await mkdir(join(testbed.rootDir, 'kcri'));
  await writeFile(ledger, '\u0000{garbage');
  testbed.run();
  await expect(testbed.ended).rejects.toMatchObject({
    message: `invalid file "${ledger}"`,
    hint: 'remove it; kcri then keeps the parent cgroups of its pods unchanged',
  });
  expect(changes(testbed)).toEqual([]);
  await rm(ledger);
  await expectKept(testbed);
});

describe('a half-deleted pod', () => {
  test('of which only directories and an exited container are left is removed', async () => {
    await using testbed = await leaveNode();
    testbed.kill('main');
    await testbed.remove('web.yaml');
    await mkdir(join(testbed.rootDir, 'pods/0b1c/volumes/kubernetes.io~empty-dir/data'), {recursive: true});
    testbed.run();
    await testbed.untilAllRemoved();
  });

  test.skipIf(process.getuid?.() !== 0)(
    'of which only a directory with a mounted volume is left is removed, and its volume unmounted (needs root)',
    async () => {
      await using testbed = await leaveNode();
      const volume = join(testbed.rootDir, 'pods/0b1c/volumes/kubernetes.io~secret/token');
      await mkdir(volume, {recursive: true});
      execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', volume]);
      await writeFile(join(volume, 'token'), 'x');
      await expectKept(testbed);
      await testbed.until(
        'the directory is removed',
        async () => !(await readdir(join(testbed.rootDir, 'pods'))).includes('0b1c'),
      );
      expect(await mountsBelow(testbed.rootDir)).toEqual([]);
      expect(testbed.running).toEqual(['web-goldennode/main/0']);
    },
  );

  test('whose sandbox was removed while its container exited is started again, with the next attempt', async () => {
    await using testbed = await leaveNode();
    testbed.kill('main');
    for (const {id, config} of testbed.fake.sandboxes)
      if (config.metadata?.name === 'web-goldennode') testbed.fake.state.sandboxes.delete(id);
    testbed.run();
    await testbed.until('the pod runs', () => testbed.statusOf('web').ready === 1);
    expect(testbed.running.map((name) => name.split('/').slice(0, 2).join('/'))).toEqual([
      'web-goldennode/main',
    ]);
    expect(testbed.maxConcurrentInstances).toBe(1);
  });

  test('whose deletion a kubelet has not finished is deleted, also from the API server', async () => {
    await using testbed = await ClusterTestbed.start();
    const {api, daemon} = testbed;
    testbed.createPod('web');
    await testbed.untilPhase('web', 'Running');
    await daemon.stop();
    await rm(join(daemon.rootDir, 'kcri'), {recursive: true});
    api.deletePod('web');
    daemon.kill('main');
    daemon.run();
    await testbed.untilDeleted('web');
    await daemon.untilAllRemoved();
    expect(daemon.fake.calls.filter(({method}) => method === 'CreateContainer')).toHaveLength(1);
  });
});
