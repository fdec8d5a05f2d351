import {appendFile, mkdir, writeFile} from 'node:fs/promises';
import {dirname} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {connect, containerId} from '../../../src/cri/index.js';
import {until} from '../../base/until.js';
import {aContainer, aSandbox, FakeRuntime} from '../../fakes/fake-runtime.js';
import type {DoctorAnswer, NodeDetails, PodParts} from '../../../src/features/ui/protocol.js';
import {aContainerSpec, aManifest, createTestbed} from '../command-testbed.js';
import {pathOf, startUi, type UiPage} from './ui-testbed.js';

async function opened(manifest: string, ...args: readonly string[]) {
  const testbed = await createTestbed();
  const {exitCode, stderr} = await testbed.run(['sync', '-'], {stdin: manifest});
  expect({exitCode, stderr}).toMatchObject({exitCode: 0});
  const ui = await startUi(['--root-dir', testbed.rootDir, 'ui', ...args], {
    endpoint: testbed.runtime.endpoint,
  });
  await ui.page.signIn();
  const live = await ui.page.live();
  await live.until(() => live.pods.size > 0);
  return {testbed, ...ui, live, pod: [...live.pods.values()][0]!};
}

async function part<Part extends keyof PodParts>(
  page: UiPage,
  key: string,
  name: Part,
): Promise<PodParts[Part]> {
  return await page.json(pathOf('/api/pod', key, {part: name}));
}

test('a pod has a description, an answer to why, events, a timeline and a manifest', async () => {
  const {page, pod} = await opened(
    aManifest({containers: [aContainerSpec('main', {env: [{name: 'A', value: 'b'}]})]}),
  );
  expect((await part(page, pod.key, 'status')).text).toMatch(/^Name: +web\nNamespace: +default\n/);
  expect((await part(page, pod.key, 'why')).text).toMatch(
    /^default\/web +Running, 1\/1 ready: nothing is wrong$/,
  );
  expect((await part(page, pod.containers[0]!.key, 'why')).text).toContain('main');
  expect((await part(page, pod.key, 'events')).events).toContainEqual({
    ...{type: 'Normal', reason: 'Started', message: 'Container started', count: 1},
    timeMs: expect.any(Number) as number,
  });
  const timeline = await part(page, pod.key, 'timeline');
  expect('svg' in timeline && timeline.svg).toMatch(/^<svg [^]*default\/web[^]*<\/svg>\n$/);
  const {lines} = await part(page, pod.key, 'manifest');
  expect(lines).toContainEqual({text: '  terminationGracePeriodSeconds: 2'});
  expect(lines).toContainEqual({text: '  restartPolicy: Always', origin: 'default'});
  expect(lines).toContainEqual({text: '# Config of the container "main" that the runtime received'});
  expect(lines).toContainEqual({
    text: '  io.kubernetes.pod.name: web',
    origin: expect.stringContaining('metadata.name web') as string,
  });
});

test('the description has resources that another client has updated', async () => {
  const limits = {memory: '64Mi'};
  const {page, pod, testbed} = await opened(
    aManifest({containers: [aContainerSpec('main', {resources: {limits, requests: limits}})]}),
  );
  const statusText = async () => (await part(page, pod.key, 'status')).text;
  expect(await statusText()).not.toContain('in Effect');
  using connection = connect(testbed.runtime.endpoint);
  const [record] = testbed.runtime.containers;
  await connection.runtime.updateContainerResources({
    containerId: containerId(record!.id),
    linux: {memoryLimitInBytes: 128n * 2n ** 20n},
  });
  expect(await statusText()).toMatch(/Limits in Effect:\n +memory: +128Mi\n/);
});

test('logs are shown without control characters, followed, and end with the page', async () => {
  const {page, pod, testbed} = await opened(aManifest());
  const [record] = testbed.runtime.containers;
  const path = record!.logPath;
  await mkdir(dirname(path), {recursive: true});
  const line = (text: string): string => `2026-01-01T00:00:00.000000000Z stdout F ${text}\n`;
  await writeFile(path, ['one', 'two', '\u001b]0;x\u0007three\u202e'].map(line).join(''));
  const controller = new AbortController();
  const response = await page.get(pathOf('/api/logs', pod.key, {tail: '2'}), {signal: controller.signal});
  let seen = '';
  const reading = (async () => {
    for await (const chunk of response.body ?? []) seen += Buffer.from(chunk as Uint8Array).toString();
  })().catch(() => undefined);
  await until(() => seen.includes('three'));
  expect(seen).toBe('two\n\\x1b]0;x\\x07three\\u202e\n');
  await appendFile(path, line('four'));
  await until(() => seen.endsWith('four\n'));
  controller.abort();
  await reading;
  expect((await page.get(pathOf('/api/logs', pod.key, {container: 'none'}))).status).toBe(404);
  const previous = await page.get(pathOf('/api/logs', pod.containers[0]!.key, {previous: 'true'}));
  // The answer has begun when it turns out that there is none.
  expect(previous.status).toBe(200);
  expect(await previous.text()).toBe('--- previous terminated container main not found\n');
});

test('the node is described, with its CPUs, and examined', async () => {
  const {page, live} = await opened(aManifest());
  const {key} = live.last!.nodes[0]!;
  const details = await page.json<NodeDetails>(pathOf('/api/node', key));
  expect(details.text).toMatch(/^Name: +\S+\nRoles: /);
  expect(details.text).not.toMatch(/[^\P{Cc}\n]/u);
  const cpus = details.topology?.flatMap(({numaNodes}) =>
    numaNodes.flatMap(({cores}) => cores.flatMap((core) => core.cpus)),
  );
  expect(cpus).toContainEqual({id: 0, owner: 'shared', isExclusive: false});
  const {checks} = await page.json<DoctorAnswer>(pathOf('/api/doctor', key));
  expect(checks).toContainEqual(
    // How quickly the runtime answers depends on the machine.
    expect.objectContaining({
      id: 'runtime/reachable',
      title: 'socket of the runtime',
      details: expect.any(Array) as string[],
    }),
  );
});

test('names of a hostile pod are shown without control characters', async () => {
  const hostile = '<img src=x onerror=alert(1)>\u001b[2J\u202e';
  const sandbox = aSandbox({name: hostile, namespace: hostile});
  const runtime = await FakeRuntime.start({
    sandboxes: [sandbox],
    containers: [aContainer({sandbox, name: hostile})],
  });
  onTestFinished(async () => {
    await runtime.stop();
  });
  const {page} = await startUi(['ui'], {endpoint: runtime.endpoint});
  await page.signIn();
  const live = await page.live();
  await live.until(() => live.pods.size > 0);
  const [pod] = live.pods.values();
  const shown = '<img src=x onerror=alert(1)>\\x1b[2J\\u202e';
  expect([pod!.name, pod!.containers[0]!.name]).toEqual([shown, shown]);
  for (const name of ['status', 'why', 'events', 'timeline', 'manifest'] as const) {
    const answer = await part(page, pod!.key, name);
    expect(Object.keys(answer)).not.toContain('error');
    // JSON escapes control characters, but not those that change the direction of text.
    const texts: string[] = [];
    JSON.stringify(answer, (_key, value: unknown) => {
      if (typeof value === 'string') texts.push(value);
      return value;
    });
    for (const text of texts) expect(text).not.toMatch(/[^\P{Cc}\n]|[\u202a-\u202e]/u);
  }
});
