import {spawn, type ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import {readFile} from 'node:fs/promises';
import {expect, onTestFinished, test} from 'vitest';
import {findLiveKubelet} from '../../../src/kubelet/node/find-live-kubelet.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {until} from '../../base/until.js';

/** Starts a process with this name and these arguments, which does nothing. */
async function startProcess(name: string, args: readonly string[], cwd: string): Promise<ChildProcess> {
  const child = spawn('sh', ['-c', 'read line', 'sh', ...args], {
    argv0: name,
    cwd,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  onTestFinished(async () => {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  });
  await until(async () => (await readFile(`/proc/${child.pid}/cmdline`, 'utf8')).startsWith(name));
  return child;
}

test.each([
  ['/usr/bin/kubelet', (rootDir: string) => [`--root-dir=${rootDir}`]],
  ['kubelet', (rootDir: string) => ['--v=2', '--root-dir', rootDir]],
  ['kubelet', () => ['--root-dir=.']],
])('%s with the root directory is found', async (name, argsFor) => {
  const rootDir = await temporaryDirectory();
  const {pid} = await startProcess(name, argsFor(rootDir), rootDir);
  expect(await findLiveKubelet(rootDir)).toBe(pid);
});

test.each([
  ['a kubelet with another root directory', 'kubelet', '/tmp'],
  ['another program', 'kubelet-exporter', undefined],
])('%s is not found', async (_, name, other) => {
  const rootDir = await temporaryDirectory();
  await startProcess(name, [`--root-dir=${other ?? rootDir}`], rootDir);
  expect(await findLiveKubelet(rootDir)).toBeUndefined();
});

test('without a root directory there is no kubelet', async () => {
  expect(await findLiveKubelet('/nonexistent/root')).toBeUndefined();
});
