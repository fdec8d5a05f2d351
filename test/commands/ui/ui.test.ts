import {createServer} from 'node:net';
import {once} from 'node:events';
import {writeFile} from 'node:fs/promises';
import {setImmediate as nextTurn} from 'node:timers/promises';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {until} from '../../base/until.js';
import {runKcri} from '../../cli/run-kcri.js';
import {createSelfSignedPair} from '../../../src/format/x509/self-signed-certificate.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {aManifest, createTestbed, type CommandTestbed} from '../command-testbed.js';
import {CountedTimers, HeldPauses, pathOf, startUi, type RunningUi} from './ui-testbed.js';
import type {RunOptions} from '../../cli/run-kcri.js';

async function sync(testbed: CommandTestbed, ...manifests: readonly string[]): Promise<void> {
  const {exitCode, stderr} = await testbed.run(['sync', '-'], {stdin: manifests.join('\n---\n')});
  expect({exitCode, stderr}).toMatchObject({exitCode: 0});
}

async function started(
  args: readonly string[] = [],
  options: RunOptions = {},
): Promise<RunningUi & {readonly testbed: CommandTestbed}> {
  const testbed = await createTestbed();
  await sync(testbed, aManifest());
  const ui = await startUi(['--root-dir', testbed.rootDir, 'ui', ...args], {
    endpoint: testbed.runtime.endpoint,
    ...options,
  });
  return {testbed, ...ui};
}

// Proves: ui
test('a page gets the state of nodes and pods, and what changes', async () => {
  const {testbed, page, interrupt} = await started();
  expect(await (await page.signIn()).json()).toMatchObject({
    allowed: [],
    version: expect.any(String) as string,
  });
  const live = await page.live();
  await live.until(() => live.messages.length > 0);
  expect(live.response.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
  expect(live.messages[0]).toMatchObject({
    kind: 'state',
    pods: [
      {
        ...{name: 'web', namespace: 'default', manager: 'kcri', ready: '1/1', state: 'Running'},
        tone: 'good',
        containers: [{name: 'main', state: 'Running', ready: 'yes'}],
      },
    ],
  });
  const [pod] = live.messages[0]!.pods;
  expect(Object.keys(live.messages[0]!.history ?? {}).toSorted()).toEqual(
    [pod!.key, pod!.containers[0]!.key, live.messages[0]!.nodes[0]!.key].toSorted(),
  );
  await sync(testbed, aManifest({name: 'api'}));
  await live.until(() => live.pod('api')?.state === 'Running');
  await testbed.run(['delete', 'web']);
  await live.until(() => live.pod('web') === undefined);
  expect(live.last?.nodes[0]).toMatchObject({
    cores: expect.any(Number) as number,
    memoryTotalBytes: expect.any(Number) as number,
    disks: expect.arrayContaining([expect.objectContaining({name: '/'})]) as object[],
    runtime: expect.stringContaining(' ') as string,
  });
  expect(await interrupt()).toMatchObject({exitCode: 0});
  await until(() => live.isClosed);
});

test('the link is one line on standard output, its token works once, and nothing else prints it', async () => {
  const {page, output, interrupt} = await started();
  expect(output.stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{43}\n$/);
  expect((await page.signIn('wrong')).status).toBe(401);
  expect((await page.get('/api/live')).status).toBe(401);
  expect((await page.signIn()).status).toBe(200);
  const second = await page.signIn();
  expect(second.status).toBe(401);
  expect(await second.json()).toMatchObject({hint: expect.stringContaining('Enter') as string});
  const {stdout, stderr} = await interrupt();
  const secrets = [page.key, page.link.split('=')[1] ?? ''];
  expect(stdout.split('\n')).toHaveLength(2);
  for (const secret of secrets) expect(stderr).not.toContain(secret);
  expect(stderr).toMatch(/^kcri: the page is read-only; the link works once, for 15 minutes\. /);
  expect(stderr).toMatch(/^hint: .*ssh -L (\d+):127\.0\.0\.1:\1 HOST$/m);
});

test('Enter on a terminal prints another link', async () => {
  const {page, output} = await started([], {interactive: true, stdin: '\n\n'});
  await until(() => output.stdout.split('\n').length === 4);
  const tokens = output.stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split('#token=')[1]);
  expect(new Set(tokens).size).toBe(3);
  for (const token of tokens) expect((await page.signIn(token)).status).toBe(200);
  expect(output.stderr).toContain('press Enter for another one');
});

// Proves: ui --namespace, ui --selector, ui --manager
test.each([
  [['-n', 'other'], []],
  [['-n', 'default'], ['web']],
  [['-l', 'app=x'], []],
  [['--manager', 'kubelet'], []],
  [['--manager', 'kcri'], ['web']],
  [['web'], ['web']],
])('ui %j shows the pods %j', async (args, names) => {
  const {page} = await started(args);
  await page.signIn();
  const live = await page.live();
  await live.until(() => live.messages.length > 0);
  expect([...live.pods.values()].map(({name}) => name)).toEqual(names);
});

test('the runtime is not asked while no page is open', async () => {
  const pauses = new HeldPauses();
  const {testbed, page} = await started([], {clock: pauses.clock});
  testbed.runtime.clearCalls();
  await page.signIn();
  expect(testbed.runtime.calls).toEqual([]);
  const live = await page.live();
  await live.until(() => live.messages.length > 2);
  pauses.hold();
  await until(() => pauses.held === 1);
  live.close();
  // The stream ends, and with it the pause before the next sample.
  await until(() => pauses.held === 0);
  testbed.runtime.clearCalls();
  expect((await page.get('/')).status).toBe(200);
  expect([testbed.runtime.calls, pauses.held]).toEqual([[], 0]);
});

test('after the last page has closed no timer is left, and none begins', async () => {
  const timers = new CountedTimers();
  const {testbed, page} = await started([], {clock: timers.clock});
  await page.signIn();
  const [first, second] = [await page.live(), await page.live()];
  for (const live of [first, second]) await live.until(() => live.messages.length > 2);
  const pod = [...first.pods.values()][0]!;
  const following = new AbortController();
  const log = await page.get(pathOf('/api/logs', pod.key), {signal: following.signal});
  expect(log.status).toBe(200);
  await page.json(pathOf('/api/pod', pod.key, {part: 'status'}));
  first.close();
  second.close();
  following.abort();
  // A timer that goes on would begin another one: the clock is fast.
  const isQuiet = async (): Promise<boolean> => {
    const {begun} = timers;
    testbed.runtime.clearCalls();
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    return timers.pending === 0 && timers.begun === begun && testbed.runtime.calls.length === 0;
  };
  await until(isQuiet, () => timers.pendingText);
});

test('a runtime that is unavailable is told, with the pods that are known', async () => {
  const {testbed, page} = await started();
  await page.signIn();
  const live = await page.live();
  await live.until(() => live.pod('web') !== undefined);
  await testbed.runtime.stop();
  await live.until(() => live.last?.nodes[0]?.failure !== undefined);
  expect(live.pod('web')).toMatchObject({name: 'web'});
});

test('without a pod of this name, or of another one, requests are errors', async () => {
  const {page} = await started();
  await page.signIn();
  const status = async (path: string) => (await page.get(path)).status;
  expect(await status(pathOf('/api/pod', 'pod x', {part: 'why'}))).toBe(404);
  expect(await status(pathOf('/api/pod', 'pod x', {part: 'toString'}))).toBe(400);
  expect(await status('/api/pod')).toBe(400);
  expect(await status(pathOf('/api/logs', 'pod x'))).toBe(404);
  expect(await status(pathOf('/api/logs', 'pod x', {tail: '-1'}))).toBe(400);
  expect(await status(pathOf('/api/node', 'node x'))).toBe(404);
  expect(await status('/api/doctor')).toBe(404);
});

// Proves: ui --port
test('a port that is in use is an error', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
  });
  const {port} = server.address() as {port: number};
  const {exitCode, stdout, stderr} = await runKcri(['ui', '--port', String(port)], {endpoint: 'unix:///x'});
  expect([exitCode, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(
    new RegExp(
      `^kcri: cannot listen on 127\\.0\\.0\\.1:${port}: address already in use.*\nhint: set another --port`,
    ),
  );
});

// Proves: ui --seconds
test.each([
  [['--port=70000'], /^kcri: --port must be between 0 and 65535/],
  [['--port=-1'], /^kcri: --port must be between/],
  [['--seconds=0'], /^kcri: --seconds must be between 1 and 3600/],
  [['--allow=exec,all'], /^kcri: invalid --allow "all"\nhint: use exec, restart, delete/],
  [['--listen=localhost'], /^kcri: invalid --listen "localhost": it is not an IP address/],
  [['--listen=0.0.0.0'], /^kcri: --listen "0\.0\.0\.0" requires --tls-cert-file/],
  [['--listen=::'], /^kcri: --listen "::" requires --tls-cert-file/],
  [['--tls-cert-file=x'], /^kcri: --tls-cert-file and --tls-private-key-file must be set together/],
  [['--tls-cert-file=x', '--tls-private-key-file=y'], /^kcri: .*reading the certificate.*"x"/],
  [['-l', '!!'], /^kcri: invalid label selector/],
  [['--manager', 'x'], /^kcri: invalid --manager "x"/],
])('ui %j is an error', async (args, message) => {
  const result = await runKcri(['ui', ...args], {endpoint: 'unix:///x'});
  expect(result.stderr).toMatch(message);
  expect([result.exitCode, result.stdout]).toEqual([1, '']);
});

// Proves: ui --listen, ui --tls-cert-file, ui --tls-private-key-file
test('with a certificate the page listens elsewhere, and only answers to its names', async () => {
  const directory = await temporaryDirectory();
  const pair = createSelfSignedPair({
    commonName: 'node',
    names: ['node.example'],
    notBeforeMs: Date.now() - 1000,
    notAfterMs: Date.now() + 1_000_000,
  });
  const [cert, key] = [join(directory, 'cert'), join(directory, 'key')];
  await writeFile(cert, pair.certificate);
  await writeFile(key, pair.key);
  const {page} = await started([
    `--tls-cert-file=${cert}`,
    `--tls-private-key-file=${key}`,
    '--listen=127.0.0.2',
  ]);
  const {port} = new URL(page.url);
  expect(page.url).toBe(`https://127.0.0.2:${port}/`);
  const {request} = await import('node:https');
  const statusOf = async (host: string): Promise<number | undefined> =>
    await new Promise((resolve, reject) => {
      request(
        {
          host: '127.0.0.2',
          port,
          path: '/api/live',
          ca: pair.certificate,
          servername: 'node.example',
          headers: {host},
        },
        (response) => {
          response.resume();
          resolve(response.statusCode);
        },
      )
        .on('error', reject)
        .end();
    });
  expect(await statusOf(`node.example:${port}`)).toBe(401);
  expect(await statusOf(`127.0.0.2:${port}`)).toBe(401);
  expect(await statusOf(`evil.example:${port}`)).toBe(421);
});

test('a runtime that stays unavailable is reported once', async () => {
  const {testbed, page, output} = await started();
  await page.signIn();
  const live = await page.live();
  await live.until(() => live.pod('web') !== undefined);
  await testbed.runtime.stop();
  await live.until(() => live.last?.nodes[0]?.failure !== undefined);
  const before = live.messages.length;
  await live.until(() => live.messages.length > before + 5);
  expect(output.stderr.match(/is unavailable/g)).toHaveLength(1);
});
