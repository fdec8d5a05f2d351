import {expect, onTestFinished, test} from 'vitest';
import {until} from '../../base/until.js';
import {aContainer, aSandbox, FakeRuntime} from '../../fakes/fake-runtime.js';
import {installFakeSsh, remoteEndpoint} from '../../fakes/ssh/install-fake-ssh.js';
import type {DoctorAnswer, NodeDetails} from '../../../src/features/ui/protocol.js';
import {pathOf, startUi} from './ui-testbed.js';

/** Starts a runtime with the pod `web` of no manager; it has the same name and UID on every node. */
async function startRuntime(containerName: string): Promise<FakeRuntime> {
  const base = aSandbox({uid: 'same-uid'});
  const sandbox = {...base, config: {...base.config, labels: {}}};
  const container = aContainer({sandbox, name: containerName});
  const runtime = await FakeRuntime.start({
    sandboxes: [sandbox],
    containers: [{...container, config: {...container.config, labels: {}}}],
  });
  onTestFinished(async () => {
    await runtime.stop();
  });
  return runtime;
}

async function startNodes(...more: readonly string[]) {
  const [a, b] = [await startRuntime('main-of-a'), await startRuntime('main-of-b')];
  const ssh = await installFakeSsh();
  const ui = await startUi(['ui', '-r', remoteEndpoint(a, 'a'), '-r', remoteEndpoint(b, 'b'), ...more], {
    env: ssh.env,
  });
  await ui.page.signIn();
  const live = await ui.page.live();
  return {a, b, ssh, ...ui, live};
}

test('pods of several nodes are kept apart, and lead to their own nodes', async () => {
  const {a, b, live, page, interrupt, ssh} = await startNodes('--allow=delete');
  await live.until(() => live.pods.size === 2);
  const pods = [...live.pods.values()];
  expect(pods.map(({node, containers}) => [node, containers[0]?.name]).toSorted()).toEqual([
    ['a', 'main-of-a'],
    ['b', 'main-of-b'],
  ]);
  const ofB = pods.find(({node}) => node === 'b')!;
  const {text} = await page.json<{text: string}>(pathOf('/api/pod', ofB.key, {part: 'status'}));
  expect(text).toContain('main-of-b:');
  expect((await page.post('/api/delete', {key: ofB.key})).status).toBe(204);
  await live.until(() => live.pods.size === 1);
  expect([a.sandboxes.length, b.sandboxes.length]).toEqual([1, 0]);
  expect(await interrupt()).toMatchObject({exitCode: 0});
  expect(await ssh.leftovers()).toEqual([]);
});

test('a remote node is measured by its files, described by its runtime, and examined', async () => {
  const {live, page} = await startNodes();
  await live.until(() => live.last?.nodes.every(({runtime}) => runtime !== undefined) === true);
  const [node] = live.last!.nodes;
  expect(node).toMatchObject({
    name: 'a',
    cores: expect.any(Number) as number,
    memoryTotalBytes: expect.any(Number) as number,
    runtime: 'fake v1.0.0',
  });
  const details = await page.json<NodeDetails>(pathOf('/api/node', node!.key));
  expect(details.text).toMatch(/^Endpoint: .*\nRuntime: +fake v1\.0\.0\n[^]*\n {2}RuntimeReady +true /m);
  expect(details.topology).toBeUndefined();
  const {checks} = await page.json<DoctorAnswer>(pathOf('/api/doctor', node!.key));
  expect(checks.map(({id}) => id)).toContain('runtime/reachable');
});

test('a node that fails keeps its last pods, does not hide the others, and is tried again', async () => {
  const {a, live} = await startNodes('-r', 'ssh://refusing/x.sock');
  await live.until(() => live.pods.size === 2);
  const node = (name: string) => live.last?.nodes.find((each) => each.name === name);
  await live.until(() => node('refusing')?.failure !== undefined);
  expect(node('refusing')?.failure).toContain('Connection refused');
  a.injectError('ListPodSandbox', {code: 'INTERNAL', message: 'the runtime restarts'});
  const ofA = () => [...live.pods.values()].find((pod) => pod.node === 'a');
  await live.until(() => ofA()?.isStale === true);
  expect(node('a')?.failure).toBe('node "a": the runtime restarts');
  expect(node('b')?.failure).toBeUndefined();
  a.clearFaults();
  await until(() => node('a')?.failure === undefined && ofA()?.isStale === undefined);
});
