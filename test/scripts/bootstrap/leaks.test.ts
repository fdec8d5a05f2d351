import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {expect, test} from 'vitest';
import {
  describeLeaks,
  findAdditions,
  findProcessesOf,
  listProcessesOf,
  parseMounts,
  RUN_VARIABLE,
} from '../../../scripts/bootstrap/leaks.mjs';

const aProcess = (pid: number, ppid: number, command: string, environ = '') => ({
  ...{pid, ppid, command, environ},
});

test('the processes of a run are those with its variable, and their descendants', () => {
  const marked = `PATH=/bin\0${RUN_VARIABLE}=mine\0`;
  const processes = [
    aProcess(30, 20, 'sleep in a container'),
    aProcess(1, 0, 'init'),
    aProcess(10, 1, 'containerd', marked),
    aProcess(11, 10, '', marked),
    aProcess(20, 1, 'containerd-shim', marked),
    aProcess(40, 1, 'containerd of another run', `${RUN_VARIABLE}=mine too\0`),
  ];
  expect(findProcessesOf(processes, 'mine')).toEqual([
    'process 30 sleep in a container',
    'process 10 containerd',
    'process 20 containerd-shim',
  ]);
});

test('additions are what there is more of, and of nested ones the outermost', () => {
  const before = ['mount /', 'mount /dev/shm', 'cgroup /cpu/old'];
  const after = [
    ...['mount /', 'mount /dev/shm', 'mount /dev/shm', 'mount /tmp/a', 'mount /tmp/a/b', 'mount /tmp/ab'],
    'cgroup /cpu/old/new',
  ];
  expect(findAdditions(before, after)).toEqual([
    ...['mount /dev/shm', 'mount /tmp/a', 'mount /tmp/ab', 'cgroup /cpu/old/new'],
  ]);
});

test('mounts are parsed', () => {
  const text =
    '30 1 0:4 net:[4026532281] /run/netns/cni-1 rw shared:5 - nsfs nsfs rw\n31 1 8:1 / / rw - ext4 /dev/vda rw\n';
  expect(parseMounts(text)).toEqual([
    {root: 'net:[4026532281]', path: '/run/netns/cni-1', type: 'nsfs'},
    {root: '/', path: '/', type: 'ext4'},
  ]);
});

test('a process that is left is found until it has ended', async () => {
  const run = `leaks-test-${process.pid}`;
  const child = spawn('sleep', ['3600'], {env: {...process.env, [RUN_VARIABLE]: run}});
  await once(child, 'spawn');
  await expect.poll(() => listProcessesOf(run)).toEqual([`process ${child.pid} sleep 3600`]);
  child.kill();
  await once(child, 'exit');
  expect(listProcessesOf(run)).toEqual([]);
});

test('leaks are listed under a line that says what to do', () => {
  expect(describeLeaks([])).toEqual([]);
  expect(describeLeaks(['mount /a'])).toEqual([
    'left by the tests (1); find the test that started them, and let it end them:',
    '  mount /a',
  ]);
});
