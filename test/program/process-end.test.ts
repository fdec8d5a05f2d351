import {execFile} from 'node:child_process';
import {symlink} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {expect, test} from 'vitest';
import {temporaryDirectory} from '../base/temporary-directory.js';
import {FakeRuntime} from '../fakes/fake-runtime.js';
import {KCRI_COMMAND} from '../kcri-command.js';

const PROGRAM = fileURLToPath(new URL('../../bin/kcri.js', import.meta.url));

interface Ended {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

async function run(
  [file, ...words]: readonly [string, ...string[]],
  env: Record<string, string>,
): Promise<Ended> {
  return await new Promise((resolve) => {
    execFile(file, words, {env: {PATH: process.env['PATH'], ...env}}, (error, stdout, stderr) => {
      resolve({stdout, stderr, exitCode: Number(error?.code ?? 0)});
    });
  });
}

test('a call whose deadline has passed fails, although nothing keeps the process alive', async () => {
  await using runtime = await FakeRuntime.start();
  const {stdout, stderr, exitCode} = await run(
    [...KCRI_COMMAND, 'exec', '-s', '--timeout', '-3', 'a', 'echo', 'x'],
    {KCRI_COMPAT: 'crictl', CRI_CONFIG_FILE: '/dev/null', CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint},
  );
  expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
  expect(stderr).toContain(String.raw`command timed out: \"echo x\" timed out after -3s`);
  expect(runtime.calls.map(({method}) => method)).not.toContain('ExecSync');
});

/** Sockets that do not keep the process alive, as a fault of kcri would be. Those of node:net are built on them, too. */
const FORGOTTEN_SOCKETS = `
  const {Pipe} = process.binding('pipe_wrap');
  const {connect} = Pipe.prototype;
  Pipe.prototype.connect = function (...words) { this.unref(); return connect.apply(this, words); };
  Pipe.prototype.ref = function () {};
`;

test('a process that ends before its command says so and fails', async () => {
  await using runtime = await FakeRuntime.start();
  runtime.injectDelay('Version', 600_000);
  const script = `${FORGOTTEN_SOCKETS} process.argv.splice(1, 0, ${JSON.stringify(PROGRAM)}); require(process.argv[1]);`;
  const ended = await run([process.execPath, '-e', script, '--', 'version'], {
    CRI_CONFIG_FILE: '/dev/null',
    CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint,
  });
  expect(ended).toMatchObject({stdout: '', exitCode: 1});
  expect(ended.stderr).toContain('kcri: the process ended before the command did');
});

test('the program starts with no other program in PATH than node, since a search for the shell takes a millisecond', async () => {
  const folder = await temporaryDirectory();
  await symlink(process.execPath, join(folder, 'node'));
  const ended = await run([PROGRAM, '--version'], {PATH: folder});
  expect(ended).toMatchObject({stderr: '', exitCode: 0});
  expect(ended.stdout).toContain('kcri version');
});
