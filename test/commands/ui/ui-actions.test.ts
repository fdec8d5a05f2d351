import {once} from 'node:events';
import {expect, test} from 'vitest';
import {WebSocket} from 'ws';
import {until} from '../../base/until.js';
import type {ServerSession} from '../../fakes/streaming/fake-streaming-server.js';
import {startStreamingRuntime} from '../../fakes/streaming/start-streaming-runtime.js';
import {aManifest, createTestbed} from '../command-testbed.js';
import {pathOf, startUi, type UiPage} from './ui-testbed.js';

async function synced(...args: readonly string[]) {
  const testbed = await createTestbed();
  const {exitCode, stderr} = await testbed.run(['sync', '-'], {stdin: aManifest()});
  expect({exitCode, stderr}).toMatchObject({exitCode: 0});
  const ui = await startUi(['--root-dir', testbed.rootDir, 'ui', ...args], {
    endpoint: testbed.runtime.endpoint,
  });
  await ui.page.signIn();
  const live = await ui.page.live();
  await live.until(() => live.pod('web') !== undefined);
  return {testbed, ...ui, live, pod: live.pod('web')!};
}

test('a page is read-only unless the command line allows more', async () => {
  const {page, pod, testbed} = await synced();
  testbed.runtime.clearCalls();
  for (const action of ['restart', 'delete']) {
    const response = await page.post(`/api/${action}`, {key: pod.key});
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({
      hint: expect.stringContaining(`--allow=${action}`) as string,
    });
  }
  const socket = terminal(page, pod.key);
  const [, {statusCode}] = (await once(socket, 'unexpected-response')) as [unknown, {statusCode: number}];
  expect(statusCode).toBe(403);
  expect(testbed.mutatingCalls).toEqual([]);
});

test('what is allowed allows nothing else', async () => {
  const {page, pod} = await synced('--allow=restart');
  expect(page.session?.allowed).toEqual(['restart']);
  const response = await page.post('/api/delete', {key: pod.key});
  expect(response.status).toBe(403);
  expect(await response.json()).toEqual({
    error: 'deletions are not allowed',
    hint: 'start kcri ui with --allow=restart,delete',
  });
});

// Proves: ui --allow
test('pods and containers are restarted and deleted, and the terminal says so', async () => {
  const {page, pod, live, output, testbed} = await synced('--allow=delete', '--allow', 'restart');
  const before = pod.containers[0]!.id;
  expect((await page.post('/api/restart', {key: pod.containers[0]!.key})).status).toBe(204);
  await live.until(() => live.pod('web')?.containers[0]?.id !== before);
  expect((await page.post('/api/delete', {key: pod.key})).status).toBe(204);
  await live.until(() => live.pod('web') === undefined);
  expect(testbed.runtime.sandboxes).toEqual([]);
  expect(output.stderr).toContain('kcri: restart of default/web/main, as the page asked\n');
  expect(output.stderr).toContain('kcri: delete of default/web, as the page asked\n');
  expect((await page.post('/api/delete', {key: pod.key})).status).toBe(404);
});

test('changes need the origin of the page', async () => {
  const {page, pod, testbed} = await synced('--allow=delete');
  for (const origin of ['http://evil.example', 'null', page.origin.replace(/\d+$/, '1')])
    expect((await page.post('/api/delete', {key: pod.key}, {origin})).status).toBe(403);
  expect((await page.post('/api/delete', {key: pod.key}, {'content-type': 'text/plain'})).status).toBe(415);
  expect(testbed.runtime.sandboxes).toHaveLength(1);
});

test('a failed change tells why', async () => {
  const {page, pod, testbed} = await synced('--allow=delete');
  testbed.runtime.injectError('StopPodSandbox', {code: 'INTERNAL', message: 'no \u001bway'});
  testbed.runtime.injectError('RemovePodSandbox', {code: 'INTERNAL', message: 'no \u001bway'});
  const response = await page.post('/api/delete', {key: pod.key});
  expect(response.status).toBe(502);
  expect(await response.json()).toMatchObject({error: expect.stringContaining('no \\x1bway') as string});
});

/** Opens the WebSocket of a terminal as the page does. */
function terminal(
  page: UiPage,
  key: string,
  {query = {}, origin = page.origin}: {query?: Record<string, string>; origin?: string} = {},
): WebSocket {
  const url = new URL(pathOf('/api/exec', key, {columns: '80', rows: '24', ...query}), page.url);
  return new WebSocket(url.href.replace('http', 'ws'), ['kcri.terminal', `kcri.session.${page.key}`], {
    origin,
  });
}

/** Starts a pod whose sessions are handled. */
async function withSessions(handleSession: (session: ServerSession) => Promise<void> | void) {
  const runtime = await startStreamingRuntime(handleSession);
  const ui = await startUi(['ui', '--allow=exec'], {endpoint: runtime.endpoint});
  await ui.page.signIn();
  const live = await ui.page.live();
  await live.until(() => live.pods.size > 0);
  return {...ui, runtime, pod: [...live.pods.values()][0]!};
}

/** Collects what a terminal receives. */
function received(socket: WebSocket): {output: string; messages: unknown[]; isClosed: boolean} {
  const result = {output: '', messages: [] as unknown[], isClosed: false};
  socket
    .on('message', (data: Buffer, isBinary) => {
      if (isBinary) result.output += data.toString();
      else result.messages.push(JSON.parse(data.toString()));
    })
    .on('close', () => {
      result.isClosed = true;
    });
  return result;
}

test('a terminal passes on input, output, sizes and the exit code', async () => {
  const {page, pod, runtime, output} = await withSessions(async (session) => {
    const stdin = session.stream('stdin');
    await session.stream('resize').waitUntil((text) => text.includes('"Width":80'));
    session.stream('stdout').send('$ ');
    await stdin.waitUntil((text) => text.includes('exit\n'));
    await session.stream('resize').waitUntil((text) => text.includes('"Width":100'));
    session.stream('stdout').send(stdin.received);
    session.sendExitCode(3);
  });
  const socket = terminal(page, pod.key);
  const seen = received(socket);
  await once(socket, 'open');
  expect(socket.protocol).toBe('kcri.terminal');
  await until(() => seen.output === '$ ');
  socket.send(Buffer.from('exit\n'), {binary: true});
  socket.send('nonsense');
  socket.send(JSON.stringify({kind: 'resize', columns: -1, rows: 1e9}));
  socket.send(JSON.stringify({kind: 'resize', columns: 100, rows: 50}));
  await until(() => seen.isClosed);
  expect(seen.output).toBe('$ exit\n');
  expect(seen.messages).toEqual([{kind: 'end', exitCode: 3}]);
  expect(runtime.callsTo('Exec')[0]!.request).toMatchObject({
    cmd: ['sh', '-c', expect.any(String)],
    tty: true,
  });
  expect(output.stderr).toContain('kcri: terminal in default/web, as the page asked\n');
});

test('a terminal runs a shell, whatever the query asks for', async () => {
  const {page, pod, runtime} = await withSessions((session) => {
    session.sendExitCode(0);
  });
  const socket = terminal(page, pod.containers[0]!.key, {query: {command: 'top'}});
  const seen = received(socket);
  await until(() => seen.isClosed);
  expect(seen.messages).toEqual([{kind: 'end', exitCode: 0}]);
  expect(runtime.callsTo('Exec')[0]!.request).toMatchObject({cmd: ['sh', '-c', expect.any(String)]});
});

test('a session ends when the page closes its terminal', async () => {
  let hasEnded = false;
  const {page, pod} = await withSessions(async (session) => {
    session.stream('stdout').send('ready');
    await session.closed;
    hasEnded = true;
  });
  const socket = terminal(page, pod.key);
  const seen = received(socket);
  await until(() => seen.output === 'ready');
  socket.close();
  await until(() => hasEnded);
});

test('a terminal that cannot be started tells why', async () => {
  const {page, pod, runtime} = await withSessions(() => undefined);
  runtime.injectError('Exec', {code: 'UNKNOWN', message: 'no such \u001bcommand'});
  const socket = terminal(page, pod.key);
  const seen = received(socket);
  await until(() => seen.isClosed);
  expect(seen.messages).toEqual([
    {kind: 'end', error: expect.stringContaining('no such \\x1bcommand') as string},
  ]);
});

test('a terminal that fails tells why without control characters', async () => {
  const {page, pod} = await withSessions((session) => {
    session.stream('stdout').fin();
    session.sendStatus('the \u001b[2Jshell was \u202ekilled');
  });
  const socket = terminal(page, pod.key);
  const seen = received(socket);
  await until(() => seen.isClosed);
  expect(seen.messages).toEqual([
    {kind: 'end', error: expect.stringContaining('the \\x1b[2Jshell was \\u202ekilled') as string},
  ]);
});

test('a terminal in a pod that does not exist tells why', async () => {
  const {page, runtime} = await withSessions(() => undefined);
  const socket = terminal(page, 'pod x');
  const seen = received(socket);
  await until(() => seen.isClosed);
  expect(seen.messages).toEqual([{kind: 'end', error: 'the pod or container does not exist any more'}]);
  expect(runtime.callsTo('Exec')).toEqual([]);
});

test('output of a terminal continues when the page takes it again', async () => {
  const {page, pod} = await withSessions(async (session) => {
    await session.stream('resize').waitUntil((text) => text.includes('"Width":100'));
    session.stream('stdout').send('held back');
    await session.stream('resize').waitUntil((text) => text.includes('"Width":101'));
    session.sendExitCode(0);
  });
  const socket = terminal(page, pod.key);
  const seen = received(socket);
  await once(socket, 'open');
  socket.send(JSON.stringify({kind: 'flow', isPaused: true}));
  socket.send(JSON.stringify({kind: 'resize', columns: 100, rows: 50}));
  socket.send(JSON.stringify({kind: 'flow', isPaused: false}));
  await until(() => seen.output === 'held back');
  socket.send(JSON.stringify({kind: 'resize', columns: 101, rows: 50}));
  await until(() => seen.isClosed);
  expect(seen.messages).toEqual([{kind: 'end', exitCode: 0}]);
});

test('another site cannot open a terminal', async () => {
  const {page, pod, runtime} = await withSessions(() => undefined);
  const socket = terminal(page, pod.key, {origin: 'http://evil.example'});
  const [, {statusCode}] = (await once(socket, 'unexpected-response')) as [unknown, {statusCode: number}];
  expect(statusCode).toBe(403);
  expect(runtime.callsTo('Exec')).toEqual([]);
});
