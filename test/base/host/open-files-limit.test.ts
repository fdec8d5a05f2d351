import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {chmod, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, onTestFinished, test, vi} from 'vitest';
import {setOpenFilesLimit} from '../../../src/base/host/open-files-limit.js';
import {temporaryDirectory} from '../temporary-directory.js';

const signal = AbortSignal.timeout(60_000);

/** Starts a process until the end of the test, and resolves with its PID. */
async function startProcess(): Promise<number> {
  const child = spawn('sleep', ['600'], {stdio: 'ignore'});
  onTestFinished(async () => {
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    await closed;
  });
  await once(child, 'spawn');
  return child.pid!;
}

const limitsOf = async (pid: number): Promise<string | undefined> =>
  /^Max open files +(\d+ +\d+)/m.exec(await readFile(`/proc/${pid}/limits`, 'utf8'))?.[1]?.replace(/ +/, ' ');

test('the limit of a process is lowered', async () => {
  const pid = await startProcess();
  await setOpenFilesLimit(pid, 512, signal);
  expect(await limitsOf(pid)).toBe('512 512');
});

/** Makes a program the one named prlimit, until the end of the test. */
async function replacePrlimit(script: string): Promise<void> {
  const directory = await temporaryDirectory();
  const path = join(directory, 'prlimit');
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  vi.stubEnv('PATH', `${directory}:${process.env['PATH'] ?? ''}`);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
}

test('a limit that is right runs no program, and the error of prlimit is reported', async () => {
  const pid = await startProcess();
  await setOpenFilesLimit(pid, 512, signal);
  await replacePrlimit(
    'echo "prlimit: failed to set the NOFILE resource limit: Operation not permitted" >&2; exit 1',
  );
  await setOpenFilesLimit(pid, 512, signal);
  await expect(setOpenFilesLimit(pid, 1024, signal)).rejects.toMatchObject({
    message: 'prlimit: failed to set the NOFILE resource limit: Operation not permitted',
    hint: 'install util-linux, or set LimitNOFILE= in the systemd unit',
  });
});

test('a machine without prlimit is reported', async () => {
  const pid = await startProcess();
  vi.stubEnv('PATH', await temporaryDirectory());
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  await expect(setOpenFilesLimit(pid, 512, signal)).rejects.toThrow('running prlimit: spawn prlimit ENOENT');
});
