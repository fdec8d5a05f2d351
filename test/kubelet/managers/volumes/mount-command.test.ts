import {execFileSync} from 'node:child_process';
import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {delimiter, join} from 'node:path';
import {expect, onTestFinished, test, vi} from 'vitest';
import {runMountCommand} from '../../../../src/kubelet/managers/volumes/mount-command.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {transpile} from '../../../base/transpile.js';
import {until} from '../../../base/until.js';

const toHint = (): undefined => undefined;

/** Puts a script named `mount` in front of the other programs, and returns its directory. */
async function aMount(script: string): Promise<string> {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, 'bin'));
  await writeFile(join(directory, 'bin/mount'), `#!/bin/sh\n${script}\n`, {mode: 0o755});
  vi.stubEnv('PATH', `${directory}/bin${delimiter}${process.env['PATH']}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  return directory;
}

/** Reports whether a process exists and has not ended. */
function runs(pid: string): boolean {
  try {
    return !execFileSync('ps', ['-o', 'stat=', '-p', pid], {encoding: 'utf8'}).startsWith('Z');
  } catch {
    return false;
  }
}

test.each([
  ['exit 32', 'mount failed: exit status 32\n'],
  ['kill -KILL $$', 'mount failed: signal: killed\n'],
  ['kill -TERM $$', 'mount failed: signal: terminated\n'],
])('the reason of a failed mount is that of `%s`', async (script, text) => {
  await aMount(script);
  await expect(runMountCommand(['/x'], {toHint})).rejects.toThrow(text);
});

test('a mount and its helpers that ignore their termination are killed when the signal aborts', async () => {
  const directory = await aMount('trap "" TERM; sleep 3602 & echo $$ $! > "$1.new"; mv "$1.new" "$1"; wait');
  const pids = join(directory, 'pids');
  const controller = new AbortController();
  const mounting = runMountCommand([pids], {toHint, signal: controller.signal});
  const ended = expect(mounting).rejects.toThrow('pod was deleted');
  await until(async () => (await readFile(pids, 'utf8').catch(() => '')) !== '');
  const [mount = '', helper = ''] = (await readFile(pids, 'utf8')).trim().split(' ');
  controller.abort(new Error('pod was deleted'));
  await ended;
  await until(() => !runs(mount) && !runs(helper));
});

test('a mount that cannot be killed is left alone', async () => {
  const directory = await aMount('echo $$ > "$1.new"; mv "$1.new" "$1"; exec sleep 3603');
  const path = join(directory, 'pid');
  const controller = new AbortController();
  const mounting = runMountCommand([path], {toHint, signal: controller.signal});
  const ended = expect(mounting).rejects.toThrow('pod was deleted');
  await until(async () => (await readFile(path, 'utf8').catch(() => '')) !== '');
  const pid = Number(await readFile(path, 'utf8'));
  const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
  controller.abort(new Error('pod was deleted'));
  await ended;
  expect(kill.mock.calls).toEqual([
    [-pid, 'SIGTERM'],
    [-pid, 'SIGKILL'],
  ]);
  kill.mockRestore();
  process.kill(-pid, 'SIGKILL');
});

test('without free file descriptors, the mount fails and the process goes on', async () => {
  const directory = await temporaryDirectory();
  await transpile('kubelet/managers/volumes/mount-command', directory);
  const script = `
    import {openSync} from 'node:fs';
    import {runMountCommand} from './kubelet/managers/volumes/mount-command.js';
    try { for (;;) openSync('/dev/null'); } catch {}
    const failure = await runMountCommand(['/x'], {toHint: () => undefined}).catch((error) => error.cause?.code);
    process.stdout.write(String(failure));
  `;
  await writeFile(join(directory, 'main.js'), script);
  const command = `ulimit -n 60; exec "${process.execPath}" main.js`;
  expect(execFileSync('sh', ['-c', command], {cwd: directory, encoding: 'utf8'})).toBe('EMFILE');
});
