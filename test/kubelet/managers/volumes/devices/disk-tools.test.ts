import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {delimiter, join} from 'node:path';
import {expect, onTestFinished, test, vi} from 'vitest';
import {runDiskTool} from '../../../../../src/kubelet/managers/volumes/devices/disk-tools.js';
import {temporaryDirectory} from '../../../../base/temporary-directory.js';
import {until} from '../../../../base/until.js';

const LONG_MS = 600_000;

/** Puts a script named `mkfs.test` in front of the other programs, and returns its directory. */
async function aTool(script: string): Promise<string> {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, 'bin'));
  await writeFile(join(directory, 'bin/mkfs.test'), `#!/bin/sh\n${script}\n`, {mode: 0o755});
  vi.stubEnv('PATH', `${directory}/bin${delimiter}${process.env['PATH']}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  return directory;
}

test('a tool gets its arguments as they are, and its exit code and outputs are returned', async () => {
  await aTool('for each in "$@"; do echo "[$each]"; done; echo error >&2; exit 3');
  const result = await runDiskTool('mkfs.test', ['-F', '/dev/a b; $(reboot)'], {timeoutMs: LONG_MS});
  expect(result).toEqual({exitCode: 3, output: '[-F]\n[/dev/a b; $(reboot)]\nerror\n'});
});

test('a missing tool is a result', async () => {
  const result = await runDiskTool('mkfs.no-such-type', [], {timeoutMs: LONG_MS});
  expect(result).toEqual({exitCode: undefined, output: ''});
});

test('tools are found in the directories of administration tools, which PATH need not have', async () => {
  const directory = await aTool('echo "$PATH"');
  vi.stubEnv('PATH', `${directory}/bin`);
  const {output} = await runDiskTool('mkfs.test', [], {timeoutMs: LONG_MS});
  expect(output).toBe(`${directory}/bin:/usr/sbin:/sbin\n`);
});

test('a tool that does not end is killed after its time, with an error that names the command', async () => {
  await aTool('exec sleep 3600');
  await expect(runDiskTool('mkfs.test', ['/dev/x'], {timeoutMs: 1})).rejects.toMatchObject({
    message: 'mkfs.test /dev/x: not finished after 0.001 s',
    hint: expect.stringContaining('dmesg') as string,
  });
});

test('a tool with a signal ends when it aborts, with its reason', async () => {
  const directory = await aTool('echo > "$1"; exec sleep 3600');
  const controller = new AbortController();
  const started = join(directory, 'started');
  const running = runDiskTool('mkfs.test', [started], {timeoutMs: LONG_MS, signal: controller.signal});
  const ended = expect(running).rejects.toThrow('pod was deleted');
  await until(async () => (await readFile(started, 'utf8').catch(() => '')) !== '');
  controller.abort(new Error('pod was deleted'));
  await ended;
});

test('a tool without a signal has a session of its own, so that Ctrl-C does not end it', async () => {
  await aTool('ps -o sid= -p $$; echo $$');
  const {output} = await runDiskTool('mkfs.test', [], {timeoutMs: LONG_MS});
  const [session, pid] = output.trim().split(/\s+/);
  expect(session).toBe(pid);
});
