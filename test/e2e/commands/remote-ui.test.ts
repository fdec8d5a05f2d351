import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {expect, onTestFinished, test} from 'vitest';
import {until} from '../../base/until.js';
import {UiPage} from '../../commands/ui/ui-testbed.js';
import {aContainer, aSandbox, FakeRuntime} from '../../fakes/fake-runtime.js';
import {KCRI_COMMAND} from '../../kcri-command.js';
import {startSshServer} from '../harness/ssh-server.js';

/** Starts a runtime with one pod. */
async function startRuntime(name: string): Promise<FakeRuntime> {
  const sandbox = aSandbox({name, uid: name});
  const runtime = await FakeRuntime.start({sandboxes: [sandbox], containers: [aContainer({sandbox})]});
  onTestFinished(async () => {
    await runtime.stop();
  });
  return runtime;
}

test('the page shows nodes through sshd, says when connections are lost, connects again, and leaves nothing', async () => {
  const [a, b] = [await startRuntime('web'), await startRuntime('db')];
  const ssh = await startSshServer(a.socketPath);
  onTestFinished(async () => {
    await ssh[Symbol.asyncDispose]();
  });
  const [program, ...before] = KCRI_COMMAND;
  const endpoints = [`ssh://node-a${a.socketPath}`, `ssh://node-b${b.socketPath}`];
  const kcri = spawn(program, [...before, 'ui', ...endpoints.flatMap((endpoint) => ['-r', endpoint])], {
    env: {...process.env, ...ssh.env, NO_COLOR: '1'},
  });
  onTestFinished(() => {
    kcri.kill('SIGKILL');
  });
  const output = {stdout: '', stderr: ''};
  kcri.stdout.on('data', (data: Buffer) => (output.stdout += data.toString()));
  kcri.stderr.on('data', (data: Buffer) => (output.stderr += data.toString()));
  await until(
    () => output.stdout.includes('\n'),
    () => output.stderr,
  );
  const page = new UiPage(output.stdout.trim());
  expect((await page.signIn()).status).toBe(200);
  const live = await page.live();
  await live.until(
    () => live.pods.size === 2 && live.last?.nodes.every(({failure}) => failure === undefined) === true,
  );
  expect([...live.pods.values()].map(({name, node}) => `${name} on ${node}`).toSorted()).toEqual([
    'db on node-b',
    'web on node-a',
  ]);
  ssh.killConnections();
  await live.until(() => live.last?.nodes.some(({failure}) => failure !== undefined) === true);
  expect(live.pods.size).toBe(2);
  await live.until(() => live.last?.nodes.every(({failure}) => failure === undefined) === true);
  await live.until(() => [...live.pods.values()].every(({isStale}) => isStale === undefined));
  kcri.kill('SIGINT');
  expect(await once(kcri, 'exit')).toEqual([0, null]);
  await until(
    () => ssh.leftovers().length === 0,
    () => ssh.leftovers().join('\n'),
  );
  expect(output.stdout.split('\n')).toHaveLength(2);
  // Neither a warning nor a stack.
  expect(output.stderr.trim().split('\n')).toHaveLength(2);
});
