import {execFile} from 'node:child_process';
import {expect, test} from 'vitest';
import {FakeRuntime} from '../fakes/fake-runtime.js';
import {KCRI_COMMAND} from '../kcri-command.js';

/** Runs a command line of a shell with kcri as `$@`, the only way to pass bytes that are not UTF-8. */
async function run(line: string, env: Record<string, string>): Promise<{stderr: string; exitCode: number}> {
  return await new Promise((resolve) => {
    // A shell whose input is a socket reads the user's file.
    const words = ['--norc', '-c', line, 'bash', ...KCRI_COMMAND];
    execFile('bash', words, {env: {PATH: process.env['PATH'], ...env}}, (error, _stdout, stderr) => {
      resolve({stderr: stderr.replace(/^time="[^"]*" /gm, ''), exitCode: Number(error?.code ?? 0)});
    });
  });
}

const MARSHALING =
  'rpc error: code = Internal desc = grpc: error while marshaling: string field contains invalid UTF-8';

// The texts are crictl's.
test.each([
  [
    String.raw`"$@" ps -q --name $'a\xff'`,
    String.raw`listing containers: list containers: invalid regular expression \"a\\xff\": ` +
      'error parsing regexp: invalid UTF-8: `\\xff`',
  ],
  [String.raw`"$@" inspect $'\xff'`, `get the status of containers: get container status: ${MARSHALING}`],
  [
    String.raw`"$@" ps -q --id $'\xff'`,
    `listing containers: list containers: call list containers RPC: ${MARSHALING}`,
  ],
  [String.raw`"$@" exec -s a echo $'\xff'`, `execing command in container a synchronously: ${MARSHALING}`],
])('as crictl, %s fails and changes nothing', async (line, message) => {
  await using runtime = await FakeRuntime.start();
  const env = {
    KCRI_COMPAT: 'crictl',
    CRI_CONFIG_FILE: '/dev/null',
    CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint,
  };
  expect(await run(line, env)).toEqual({stderr: `level=error msg="${message}"\n`, exitCode: 1});
});
