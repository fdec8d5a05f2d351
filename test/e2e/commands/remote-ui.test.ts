import {once} from 'node:events';
import {expect, onTestFinished, test} from 'vitest';
import {until} from '../../base/until.js';
import {startUiProgram} from '../../commands/ui/start-ui-program.js';
import {UiPage} from '../../commands/ui/ui-testbed.js';
import {aContainer, aSandbox, FakeRuntime} from '../../fakes/fake-runtime.js';
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
  const endpoints = [`ssh://node-a${a.socketPath}`, `ssh://node-b${b.socketPath}`];
  const {kcri, output, link} = await startUiProgram(
    endpoints.flatMap((endpoint) => ['-r', endpoint]),
    {...ssh.env, NO_COLOR: '1'},
  );
  const page = new UiPage(link);
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
