import {chmod, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, onTestFinished, test, vi} from 'vitest';
import {prepareProcess} from '../../../src/features/kubelet/prepare-process.js';
import {readKubeletConfig} from '../../../src/kubelet/configuration/kubelet-config.js';
import {fakeLogger} from '../../base/fake-logger.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';

/** Prepares this process with a prlimit that notes its arguments; resolves with them and the errors. */
async function prepare(ownsProcess: boolean, exitCode = 0) {
  const directory = await temporaryDirectory();
  const noted = join(directory, 'noted');
  await writeFile(noted, '');
  await writeFile(join(directory, 'prlimit'), `#!/bin/sh\necho "$@" >> ${noted}\nexit ${exitCode}\n`);
  await chmod(join(directory, 'prlimit'), 0o755);
  vi.stubEnv('PATH', `${directory}:${process.env['PATH'] ?? ''}`);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  const errors: string[] = [];
  const logger = fakeLogger({
    info: () => undefined,
    error: (error, message) => void errors.push(`${message}: ${String(error)}`),
  });
  const {values} = readKubeletConfig([], new Map([['max-open-files', ['654321']]]));
  const signal = AbortSignal.timeout(60_000);
  await prepareProcess(values, {swapsFile: '/nonexistent', ownsProcess, signal}, logger);
  return {arguments: (await readFile(noted, 'utf8')).trim(), errors};
}

test('a process that is only a kubelet gets maxOpenFiles as its limit', async () => {
  expect(await prepare(true)).toEqual({
    arguments: `--pid ${process.pid} --nofile=654321:654321`,
    errors: [],
  });
});

test('a limit that cannot be set is logged', async () => {
  const {errors} = await prepare(true, 1);
  expect(errors).toEqual([expect.stringContaining('Failed to set rlimit on max file handles')]);
});

test('a process that does other things as well keeps its limit', async () => {
  expect((await prepare(false)).arguments).toBe('');
});
