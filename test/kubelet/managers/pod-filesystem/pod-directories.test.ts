import {execFileSync} from 'node:child_process';
import {mkdir, open, readdir, readFile, stat, symlink, truncate, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import type {Pod} from '../../../../src/api/types/v1-pod.js';
import {
  makeContainerLogDirectory,
  makeLogDirectory,
  makePodDirs,
  createTerminationLog,
  newTerminationLogPath,
  nextLogAttempt,
  removeContainerLogs,
  removePodLogs,
} from '../../../../src/kubelet/managers/pod-filesystem/pod-directories.js';
import {needsHostsFile, writeHostsFile} from '../../../../src/kubelet/managers/pod-filesystem/hosts-file.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {mode, withUmask} from '../../../base/file-mode.js';
import {aPod} from '../../../fakes/a-pod.js';

const pod = aPod({}, {uid: 'u1'});

async function aNode(): Promise<{rootDir: string; podLogsDir: string; data: string; logs: string}> {
  const directory = await temporaryDirectory();
  const [rootDir, podLogsDir] = [join(directory, 'root'), join(directory, 'logs')];
  return {rootDir, podLogsDir, data: `${rootDir}/pods/u1`, logs: `${podLogsDir}/default_web_u1`};
}

test('the directories of a pod have mode 0750', async () => {
  withUmask(0);
  const node = await aNode();
  await makePodDirs(node, pod);
  await makePodDirs(node, pod);
  expect((await readdir(node.data)).sort()).toEqual(['plugins', 'volumes']);
  const paths = [node.rootDir, node.data, join(node.data, 'volumes')];
  expect(await Promise.all(paths.map(mode))).toEqual([0o750, 0o750, 0o750]);
});

test('a termination log is writable by any user, and each instance has its own', async () => {
  withUmask(0o077);
  const node = await aNode();
  await makePodDirs(node, pod);
  const first = newTerminationLogPath(node, pod, 'main', () => 0xbeef);
  const second = newTerminationLogPath(node, pod, 'main', () => 0xffff_ffff);
  expect([first, second]).toEqual([
    `${node.data}/containers/main/0000beef`,
    `${node.data}/containers/main/ffffffff`,
  ]);
  await createTerminationLog(first);
  await createTerminationLog(second);
  expect(await mode(first)).toBe(0o666);
  expect(await mode(`${node.data}/containers/main`)).toBe(0o750);
});

test('a termination log never replaces an existing file', async () => {
  const node = await aNode();
  await makePodDirs(node, pod);
  const path = newTerminationLogPath(node, pod, 'main', () => 1);
  await createTerminationLog(path);
  await writeFile(path, 'last words');
  await expect(createTerminationLog(path)).rejects.toThrow(`creating "${path}": file already exists`);
  expect(await readFile(path, 'utf8')).toBe('last words');
});

test('the hosts file is rewritten in place, so that running containers see the change', async () => {
  const node = await aNode();
  await makePodDirs(node, pod);
  const path = await writeHostsFile(node, pod, 'one\n');
  const mounted = await open(path);
  await writeHostsFile(node, pod, 'another\n');
  await writeHostsFile(node, pod, 'é\n');
  expect(await mounted.readFile('utf8')).toBe('é\n');
  expect(await mode(path)).toBe(0o644);
  await mounted.close();
});

test('a hosts file that a container has enlarged is rewritten without being read', async () => {
  const node = await aNode();
  await makePodDirs(node, pod);
  const path = await writeHostsFile(node, pod, 'one\n');
  await truncate(path, 3 * 2 ** 30);
  await writeHostsFile(node, pod, 'one\n');
  expect(await readFile(path, 'utf8')).toBe('one\n');
});

test('a hosts file with the same content is not rewritten', async () => {
  const node = await aNode();
  await makePodDirs(node, pod);
  const path = await writeHostsFile(node, pod, 'one\n');
  const before = await stat(path, {bigint: true});
  await writeHostsFile(node, pod, 'one\n');
  expect((await stat(path, {bigint: true})).mtimeNs).toBe(before.mtimeNs);
});

test('a container gets a hosts file if its pod has an IP, unless it mounts its own', () => {
  const [main] = pod.spec.containers;
  const gets = (mountPath: string, podIps: readonly string[], hostNetwork = false): boolean =>
    needsHostsFile({
      pod: {...pod, spec: {...pod.spec, hostNetwork}},
      container: {...main!, volumeMounts: [{name: 'v', mountPath}]},
      podIps,
      subPaths: [],
    });
  expect(gets('/etc', ['10.88.0.5'])).toBe(true);
  expect(gets('/etc', [])).toBe(false);
  expect(gets('/etc', [], true)).toBe(true);
  expect(gets('/etc/hosts', ['10.88.0.5'])).toBe(false);
  expect(gets('/etc/hosts', [], true)).toBe(false);
});

test('the log directories of a pod and its containers have mode 0755', async () => {
  withUmask(0o077);
  const node = await aNode();
  await makeLogDirectory(node, pod);
  await makeContainerLogDirectory(node, pod, 'main');
  expect([await mode(node.logs), await mode(join(node.logs, 'main'))]).toEqual([0o755, 0o755]);
});

async function withLogs(...names: readonly string[]): ReturnType<typeof aNode> {
  const node = await aNode();
  await makeContainerLogDirectory(node, pod, 'main');
  for (const name of names) await writeFile(join(node.logs, 'main', name), '');
  return node;
}

test.each([
  ['no log', [], 0],
  ['the first log', ['0.log'], 1],
  ['a rotated log only', ['2.log.20261120-101500.gz'], 3],
  ['logs sorted by number', ['9.log', '10.log'], 11],
  ['other files', ['x.log', '7.txt', 'log', '8.log2'], 0],
])('the attempt after %s', async (_title, names, attempt) => {
  expect(await nextLogAttempt(await withLogs(...names), pod, 'main')).toBe(attempt);
});

test('the attempt without a log directory is 0', async () => {
  expect(await nextLogAttempt(await aNode(), pod, 'main')).toBe(0);
});

test('all logs of one instance are removed, and those of other instances are kept', async () => {
  const node = await withLogs(
    '1.log',
    '1.log.20261120-101500',
    '1.log.20261120-101500.gz',
    '10.log',
    '11.log',
    '0.log',
  );
  await removeContainerLogs(node, pod, 'main', 1);
  await removeContainerLogs(node, pod, 'other', 1);
  expect((await readdir(join(node.logs, 'main'))).sort()).toEqual(['0.log', '10.log', '11.log']);
});

test('all logs of a pod are removed, and those of other pods are kept', async () => {
  const node = await withLogs('0.log');
  await symlink(node.rootDir, join(node.logs, 'main', '1.log'));
  await mkdir(`${node.podLogsDir}/default_web_u10`);
  await mkdir(node.rootDir);
  await removePodLogs(node, pod);
  await removePodLogs(node, pod);
  expect(await readdir(node.podLogsDir)).toEqual(['default_web_u10']);
  expect((await stat(node.rootDir)).isDirectory()).toBe(true);
});

test('a pod whose name is too long for a log directory has no logs to remove', async () => {
  const long = {...pod, metadata: {...pod.metadata, name: 'a'.repeat(253)}};
  await removePodLogs(await aNode(), long);
  await expect(makeLogDirectory(await aNode(), long)).rejects.toThrow('the pod log directory "default_aaa');
});

test.each<[string, Pod, string]>([
  ['UID', {...pod, metadata: {...pod.metadata, uid: '../x'}}, 'main'],
  ['container name', pod, '../../x'],
])('a hostile %s is never used as a path', async (_title, hostile, containerName) => {
  const node = await aNode();
  const message = 'cannot be a file name';
  expect(() => newTerminationLogPath(node, hostile, containerName, () => 1)).toThrow(message);
  await expect(makeContainerLogDirectory(node, hostile, containerName)).rejects.toThrow(message);
  await expect(removeContainerLogs(node, hostile, containerName, 0)).rejects.toThrow(message);
  await expect(stat(node.rootDir)).rejects.toThrow('ENOENT');
});

/** Mounting requires root. */
describe.skipIf(process.getuid?.() !== 0)('on a separate file system (needs root)', () => {
  async function aNodeOn(options: string): ReturnType<typeof aNode> {
    const node = await aNode();
    await mkdir(node.rootDir);
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', node.rootDir]);
    onTestFinished(() => {
      execFileSync('umount', [node.rootDir]);
    });
    return node;
  }

  test('a full disk is reported with the path, and no incomplete directories remain', async () => {
    const node = await aNodeOn('nr_inodes=4');
    await expect(makePodDirs(node, pod)).rejects.toMatchObject({
      message: `creating the directory "${node.data}/plugins": no space left on device`,
      hint: expect.stringContaining('--root-dir') as unknown,
    });
    expect(await readdir(node.rootDir)).toEqual([]);
  });

  test('a hosts file that does not fit on the disk is removed', async () => {
    const node = await aNodeOn('size=4k');
    await makePodDirs(node, pod);
    await expect(writeHostsFile(node, pod, 'x'.repeat(20_000))).rejects.toThrow('no space left on device');
    expect((await readdir(node.data)).sort()).toEqual(['plugins', 'volumes']);
  });

  test('a read-only root directory is reported with its path', async () => {
    const node = await aNodeOn('ro');
    await expect(makePodDirs(node, pod)).rejects.toMatchObject({
      message: `creating the directory "${node.rootDir}/pods": read-only file system`,
      hint: 'set --root-dir to a directory on a writable filesystem',
    });
  });
});
