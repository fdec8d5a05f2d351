import {mkdir, readFile, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import type {NodeManager, NodeManagerServices} from '../../../../src/kubelet/contract/node-manager.js';
import {createProcessCgroups} from '../../../../src/kubelet/managers/cgroups/process-cgroups.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {aCgroupTree} from '../../../fakes/a-cgroup-tree.js';
import {fakeLogger} from '../../../base/fake-logger.js';

/** Processes in the root cgroup: the first one, one with a program, and a thread of the kernel. */
const ROOT_PROCESSES = '1\n50\n60\n';

const {signal} = new AbortController();

/** Creates a file system of processes; the kubelet has PID 70, on the host or in a container. */
async function aProcDir(kubeletNamespace = 'pid:[1]'): Promise<string> {
  const directory = await temporaryDirectory();
  for (const [pid, namespace] of [
    [1, 'pid:[1]'],
    [50, 'pid:[1]'],
    [60, 'pid:[1]'],
    [70, kubeletNamespace],
  ] as const) {
    await mkdir(join(directory, `${pid}/ns`), {recursive: true});
    await symlink(namespace, join(directory, `${pid}/ns/pid`));
    if (pid !== 60) await symlink('/usr/bin/program', join(directory, `${pid}/exe`));
  }
  return directory;
}

interface Started {
  readonly manager: NodeManager;
  readonly logged: readonly string[];
}

async function start(
  mount: string,
  version: 1 | 2,
  processCgroups: {readonly kubelet: string; readonly system: string},
  procDir: string,
): Promise<Started> {
  const logged: string[] = [];
  const cgroup = {version, driver: 'cgroupfs', root: '', swapAccounting: true} as const;
  const node = {processCgroups, cgroupMount: mount, cgroup, rootDir: '/nonexistent'};
  const manager = createProcessCgroups(node, {pid: 70, procDir}) ?? expect.fail();
  const logger = fakeLogger({info: (message) => void logged.push(message), error: () => undefined});
  await manager.start?.({logger} as NodeManagerServices, signal);
  return {manager, logged};
}

const run = async ({manager}: Started): Promise<void> => manager.reconcile?.run(signal);
const pidsIn = async (directory: string): Promise<readonly string[]> => [
  ...new Set((await readFile(join(directory, 'cgroup.procs'), 'utf8')).trim().split('\n')),
];

test.each(['/kubelet', 'kubelet'])('the kubelet moves to the cgroup %s', async (kubelet) => {
  const mount = await aCgroupTree(2, ['']);
  const started = await start(mount, 2, {kubelet, system: ''}, await aProcDir());
  await run(started);
  await run(started);
  expect(await readFile(join(mount, 'kubelet/cgroup.procs'), 'utf8')).toBe('70\n');
});

test('with cgroup v1, the kubelet moves in each hierarchy', async () => {
  const mount = await aCgroupTree(1, ['']);
  await run(await start(mount, 1, {kubelet: '/a/kubelet', system: ''}, await aProcDir()));
  for (const name of ['cpu', 'memory', 'pids'])
    expect(await pidsIn(join(mount, name, 'a/kubelet'))).toEqual(['70']);
});

test('a kubelet in a container stays where it is', async () => {
  const mount = await aCgroupTree(2, ['']);
  await run(await start(mount, 2, {kubelet: '/kubelet', system: ''}, await aProcDir('pid:[2]')));
  await expect(readFile(join(mount, 'kubelet/cgroup.procs'))).rejects.toThrow('ENOENT');
});

test('processes of the root cgroup move to that of the system, but the first one and those of the kernel', async () => {
  const mount = await aCgroupTree(2, [''], {'cgroup.procs': ROOT_PROCESSES});
  await run(await start(mount, 2, {kubelet: '', system: '/system'}, await aProcDir()));
  expect(await pidsIn(join(mount, 'system'))).toEqual(['50']);
});

test('a failure is logged, and the kubelet continues', async () => {
  const mount = await aCgroupTree(2, ['']);
  await writeFile(join(mount, 'kubelet'), 'not a directory');
  const started = await start(mount, 2, {kubelet: '/kubelet', system: ''}, await aProcDir());
  await run(started);
  expect(started.logged).toEqual(['Failed to ensure state']);
});

test('the cgroup of the system cannot be the root', async () => {
  await expect(start('/nonexistent', 2, {kubelet: '', system: '/'}, '/proc')).rejects.toThrow(
    'system container cannot be root ("/")',
  );
});

test('nothing moves unless a cgroup is configured', () => {
  const cgroup = {version: 2, driver: 'cgroupfs', root: '', swapAccounting: true} as const;
  const node = {cgroupMount: '/sys/fs/cgroup', cgroup, rootDir: '/'};
  expect(createProcessCgroups({...node, processCgroups: {kubelet: '', system: ''}})).toBeUndefined();
  expect(createProcessCgroups(node)).toBeUndefined();
});
