import {isDeepStrictEqual} from 'node:util';
import {readFile, rm, stat, writeFile} from 'node:fs/promises';
import {connect as connectTcp} from 'node:net';
import {text} from 'node:stream/consumers';
import {X509Certificate} from 'node:crypto';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {until} from '../../base/until.js';
import {parseExposition} from '../metrics/parse-exposition.js';
import {askAt, runningStatus, startGround, UID, webPod} from './server-ground.js';

test.each([
  ['main', '--port or --address, or --enable-server=false'],
  ['readOnly', '--read-only-port or --address, or 0'],
  ['health', '--healthz-port or --healthz-bind-address, or 0'],
] as const)('an address of %s that is taken is an error that names its flags', async (name, flags) => {
  const {servers} = await startGround();
  const port = Number(new URL(servers.urls.main ?? '').port);
  const options = {[name]: {address: '127.0.0.1', port}};
  await expect(startGround({options})).rejects.toMatchObject({
    message: `listening on 127.0.0.1:${port}: address already in use`,
    hint: expect.stringContaining(flags) as string,
  });
});

test('a file of certificate authorities that is not there is named', async () => {
  const access = {clientCaFile: '/nonexistent/ca.crt'};
  await expect(startGround({access})).rejects.toThrow(
    'reading the certificate authorities of clients "/nonexistent/ca.crt": no such file or directory',
  );
});

describe('health', () => {
  test.each(['/healthz', '/healthz/ping', '/healthz/log', '/healthz/syncloop'])('%s is ok', async (path) => {
    const {ask, servers} = await startGround();
    expect(await ask(path)).toMatchObject({status: 200, body: 'ok'});
    expect(await askAt(servers.urls.readOnly ?? '', path)).toMatchObject({status: 200, body: 'ok'});
    expect(await askAt(servers.urls.health ?? '', path)).toMatchObject({status: 200, body: 'ok'});
  });

  test('is bad when the sync loop has done nothing for five minutes', async () => {
    const {ask, kubelet} = await startGround();
    kubelet.lastActiveAt = Date.now() - 299_000;
    expect((await ask('/healthz/syncloop')).status).toBe(200);
    kubelet.lastActiveAt = Date.now() - 301_000;
    expect(await ask('/healthz/syncloop')).toMatchObject({
      status: 500,
      body: 'internal server error: sync Loop took longer than expected\n',
    });
    expect(await ask('/healthz')).toMatchObject({
      status: 500,
      body: '[+]ping ok\n[+]log ok\n[-]syncloop failed: reason withheld\nhealthz check failed\n',
    });
    expect((await ask('/healthz?exclude=syncloop')).status).toBe(200);
  });

  test('waits for two sync periods when they are longer', async () => {
    const {ask, kubelet} = await startGround({options: {syncFrequencyMs: 600_000}});
    kubelet.lastActiveAt = Date.now() - 1_100_000;
    expect((await ask('/healthz/syncloop')).status).toBe(200);
  });

  test('tells of each check when asked to', async () => {
    const {ask} = await startGround();
    expect((await ask('/healthz?verbose')).body).toBe(
      '[+]ping ok\n[+]log ok\n[+]syncloop ok\nhealthz check passed\n',
    );
  });

  test('the health port serves nothing else', async () => {
    const {servers} = await startGround();
    expect(await askAt(servers.urls.health ?? '', '/pods')).toMatchObject({status: 404});
  });
});

describe('pods', () => {
  test('are a PodList with their status', async () => {
    const {ask} = await startGround();
    const {headers, body} = await ask('/pods');
    expect(headers['content-type']).toBe('application/json');
    const {metadata, spec, status} = webPod();
    expect(JSON.parse(body)).toEqual({
      kind: 'PodList',
      apiVersion: 'v1',
      metadata: {},
      items: [JSON.parse(JSON.stringify({metadata, spec, status}))],
    });
  });

  test('that run are told with what runs of them', async () => {
    const {ask} = await startGround();
    const {items} = JSON.parse((await ask('/runningpods/')).body) as {items: unknown};
    expect(items).toMatchObject([
      {metadata: {name: 'web', namespace: 'team', uid: UID}, spec: {containers: [{name: 'main'}]}},
    ]);
  });

  test('and the configuration are shown', async () => {
    const {ask} = await startGround();
    expect(JSON.parse((await ask('/configz')).body)).toEqual({kubeletconfig: {port: 10250}});
  });
});

describe('metrics', () => {
  test('tell of pods, containers and requests', async () => {
    const {ask} = await startGround();
    await ask('/pods');
    const {headers, body} = await ask('/metrics');
    expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    const samples = parseExposition(body);
    const valueOf = (name: string, labels: object): unknown =>
      samples.find((one) => one.name === name && isDeepStrictEqual(one.labels, labels))?.value;
    expect(valueOf('kubelet_running_pods', {})).toBe(1);
    expect(valueOf('kubelet_running_containers', {container_state: 'running'})).toBe(1);
    expect(valueOf('kubelet_desired_pods', {static: ''})).toBe(1);
    const request = {method: 'GET', path: 'pods', server_type: 'readwrite', long_running: 'false'};
    expect(valueOf('kubelet_http_requests_total', request)).toBe(1);
  });

  test('have no series that a client can make up', async () => {
    const {ask} = await startGround();
    for (const path of ['/made/up', '/metrics/made-up', '/%zz']) await ask(path, {method: 'PROPFIND'});
    const {body} = await ask('/metrics');
    expect(body).not.toMatch(/made|zz|PROPFIND/);
    expect(body).toContain('kubelet_http_requests_total{long_running="false",method="other",path="other"');
  });

  test('of resources are those of node, containers and pods', async () => {
    const {ask} = await startGround();
    const samples = parseExposition((await ask('/metrics/resource')).body);
    const names = new Set(samples.map(({name}) => name));
    expect(names).toContain('node_cpu_usage_seconds_total');
    expect(names).toContain('node_memory_working_set_bytes');
    const container = samples.find(({name}) => name === 'container_memory_working_set_bytes');
    expect(container?.labels).toEqual({container: 'main', pod: 'web', namespace: 'team'});
    expect(samples.find(({name}) => name === 'resource_scrape_error')?.value).toBe(0);
  });

  test('of resources tell that the runtime could not be asked', async () => {
    const {ask, runtime} = await startGround();
    runtime.injectError('ListContainerStats', {code: 'UNAVAILABLE', message: 'gone'});
    const samples = parseExposition((await ask('/metrics/resource')).body);
    expect(samples).toEqual([
      {name: 'resource_scrape_error', labels: {}, value: 1},
      {name: 'scrape_error', labels: {}, value: 1},
    ]);
  });

  test('of the runtime are 404 from one that has none', async () => {
    const {ask} = await startGround({runtime: {unimplemented: ['ListPodSandboxMetrics']}});
    expect(await ask('/metrics/cadvisor')).toMatchObject({
      status: 404,
      body: expect.stringContaining('/metrics/resource') as string,
    });
  });

  test('of the runtime come under its names', async () => {
    const {ask} = await startGround();
    const {status, body} = await ask('/metrics/cadvisor');
    expect(status).toBe(200);
    expect(parseExposition(body).length).toBeGreaterThan(0);
  });

  test('the summary has node and pods, and only CPU and memory when asked so', async () => {
    const {ask} = await startGround();
    const whole = JSON.parse((await ask('/stats/summary')).body) as Record<string, object>;
    expect(whole['node']).toMatchObject({nodeName: 'node-1', cpu: {}, memory: {}, fs: {}, runtime: {}});
    expect(whole['pods']).toMatchObject([
      {podRef: {name: 'web', namespace: 'team', uid: UID}, containers: [{name: 'main', rootfs: {}}]},
    ]);
    const few = (await ask('/stats/summary?only_cpu_and_memory=true')).body;
    expect(few).not.toMatch(/"fs"|rootfs|network/);
    expect(few).toContain('workingSetBytes');
  });
});

const LINES = [
  '2026-01-01T00:00:01.000000001Z stdout F one',
  '2026-01-01T00:00:02.000000002Z stderr P tw',
  '2026-01-01T00:00:02.000000003Z stderr F o',
  '2026-01-01T00:00:03.000000004Z stdout F three',
];

describe('logs of containers', () => {
  test.each([
    ['', 'one\ntwo\nthree\n'],
    ['?tailLines=2', 'two\nthree\n'],
    ['?tail=1', 'three\n'],
    ['?tail=all', 'one\ntwo\nthree\n'],
    ['?tailLines=0', ''],
    ['?sinceTime=2026-01-01T00:00:03Z', 'three\n'],
    ['?sinceSeconds=1', ''],
    ['?limitBytes=6', 'one\ntw'],
    ['?timestamps=true&tailLines=1', '2026-01-01T00:00:03.000000004Z three\n'],
    ['?timestamps=0&tailLines=1', 'three\n'],
    ['?stream=Stderr', 'two\n'],
  ])('%s', async (query, expected) => {
    const {ask, logPath} = await startGround();
    await writeFile(logPath, `${LINES.join('\n')}\n`);
    expect(await ask(`/containerLogs/team/web/main${query}`)).toMatchObject({status: 200, body: expected});
  });

  test.each([
    ['team/web/main?tailLines=x', 400, '{"message": "Unable to decode query."}'],
    ['team/web/main?sinceTime=yesterday', 400, '{"message": "Unable to decode query."}'],
    ['team/web/main?tailLines=-1', 422, '{"message": "Invalid request."}'],
    ['team/web/main?limitBytes=0', 422, '{"message": "Invalid request."}'],
    ['team/web/main?sinceSeconds=0', 422, '{"message": "Invalid request."}'],
    ['team/web/main?sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z', 422, '{"message": "Invalid request."}'],
    ['team/web/main?stream=Stdout&tailLines=1', 422, '{"message": "Invalid request."}'],
    ['team/nope/main', 404, 'pod "nope" does not exist'],
    ['other/web/main', 404, 'pod "web" does not exist'],
    ['team/web/nope', 404, 'container "nope" not found in pod "web"'],
    ['team/web/main?previous=true', 400, 'previous terminated container "main" in pod "web" not found'],
  ])('%s is %i', async (path, status, body) => {
    const {ask} = await startGround();
    expect(await ask(`/containerLogs/${path}`)).toMatchObject({status, body});
  });

  test.each([
    ['ContainerCreating', 'ContainerCreating'],
    ['ErrImagePull', "image can't be pulled"],
    ['ImagePullBackOff', 'trying and failing to pull image'],
  ])('of a container that waits because of %s', async (reason, said) => {
    const {ask, kubelet} = await startGround();
    const [status] = runningStatus().containerStatuses ?? [];
    const waiting = {...status!, containerID: '', state: {waiting: {reason}}};
    kubelet.pods = () => [webPod({phase: 'Pending', containerStatuses: [waiting]})];
    expect(await ask('/containerLogs/team/web/main')).toMatchObject({
      status: 400,
      body: `container "main" in pod "web" is waiting to start: ${said}`,
    });
  });

  test('go on until the container ends', async () => {
    const {ask, logPath, runtime} = await startGround();
    await writeFile(logPath, `${LINES[0]}\n`);
    const followed = ask('/containerLogs/team/web/main?follow=true');
    await writeFile(logPath, `${LINES[3]}\n`, {flag: 'a'});
    runtime.exitContainer('main-id', 0);
    expect((await followed).body).toBe('one\nthree\n');
  });

  test('that are not there are told of', async () => {
    const {ask, runtime} = await startGround();
    runtime.injectError('ContainerStatus', {code: 'NOT_FOUND', message: 'no such container'});
    const {status, body} = await ask('/containerLogs/team/web/main');
    expect({status, body}).toEqual({
      status: 400,
      body: 'unable to retrieve container logs for main-id: rpc error: code = NotFound desc = no such container',
    });
  });
});

describe('what is not served', () => {
  test.each([
    ['/', 404, '404 page not found\n'],
    ['/nope', 404, '404 page not found\n'],
    ['/exec/team', 404, '404: Page Not Found'],
    ['/debug/pprof/heap', 405, 'profiling endpoint is disabled.\n'],
  ])('%s', async (path, status, body) => {
    const {ask} = await startGround();
    expect(await ask(path)).toMatchObject({status, body});
  });

  test('by that method is 405 and says by which', async () => {
    const {ask} = await startGround();
    const {status, headers} = await ask('/pods', {method: 'DELETE'});
    expect({status, allow: headers.allow}).toEqual({status: 405, allow: 'GET'});
  });

  test.each([
    '/exec/team/web/main',
    '/run/team/web/main',
    '/containerLogs/team/web/main',
    '/runningpods/',
    '/logs/',
  ])('%s without debugging handlers', async (path) => {
    const {ask, servers} = await startGround({options: {debuggingHandlers: false}});
    const refused = {status: 405, body: 'Debug endpoints are disabled.\n'};
    expect(await ask(path)).toMatchObject(refused);
    expect(await askAt(servers.urls.readOnly ?? '', path)).toMatchObject(refused);
  });

  test('the read-only port changes nothing', async () => {
    const {servers} = await startGround();
    const readOnly = servers.urls.readOnly ?? '';
    expect((await askAt(readOnly, '/pods')).status).toBe(200);
    expect((await askAt(readOnly, '/run/team/web/main?cmd=id', {method: 'POST'})).status).toBe(405);
    expect((await askAt(readOnly, '/configz')).status).toBe(404);
    expect((await askAt(readOnly, '/checkpoint/team/web/main', {method: 'POST'})).status).toBe(404);
  });
});

describe('commands and checkpoints', () => {
  test('run gives what the command says', async () => {
    const {ask, runtime} = await startGround();
    const {status} = await ask('/run/team/web/main?cmd=echo%20hi', {method: 'POST'});
    expect(status).toBe(200);
    expect(runtime.callsTo('ExecSync')[0]?.request).toMatchObject({cmd: ['echo', 'hi']});
  });

  test.each([
    ['/run/team/nope/main?cmd=id', 404, 'pod does not exist'],
    ['/run/team/web/nope?cmd=id', 500, 'container not found ("nope")'],
    ['/run/team/web/other-uid/main?cmd=id', 500, 'container not found ("main")'],
    ['/checkpoint/team/web/nope', 404, 'container nope does not exist'],
    ['/checkpoint/team/web/main?timeout=x', 404, 'cannot parse value of timeout parameter'],
  ])('%s is %i', async (path, status, body) => {
    const {ask} = await startGround();
    expect(await ask(path, {method: 'POST'})).toMatchObject({status, body});
  });

  test('a checkpoint is asked for with the name and time that the kubelet gives it', async () => {
    const {ask, runtime, directory} = await startGround();
    await ask('/checkpoint/team/web/main', {method: 'POST'});
    const {
      container_id: containerId,
      location,
      timeout,
    } = runtime.callsTo('CheckpointContainer')[0]?.request as Record<string, unknown>;
    expect({containerId, timeout}).toEqual({containerId: 'main-id', timeout: '120'});
    expect(String(location).replace(directory, '')).toMatch(
      /^\/checkpoints\/checkpoint-web_team-main-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\.tar$/,
    );
    expect((await stat(join(directory, 'checkpoints'))).mode & 0o777).toBe(0o700);
  });
});

describe('hostile clients', () => {
  const raw = async (url: string, bytes: string): Promise<string> => {
    const {hostname, port} = new URL(url);
    const socket = connectTcp(Number(port), hostname);
    socket.write(bytes);
    return await text(socket);
  };

  test.each([
    ['GET /healthz HTTP/1.1\r\nHost: x\r\nBad Header: 1\r\n\r\n', /^HTTP\/1.1 400 /],
    ['no http at all\r\n\r\n', /^HTTP\/1.1 400 /],
    [`GET /healthz HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(300_000)}\r\n\r\n`, /^HTTP\/1.1 431 /],
    ['CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n', /^HTTP\/1.1 405 /],
    ['GET http://elsewhere/pods HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', /^HTTP\/1.1 400 /],
    [
      'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n',
      /^HTTP\/1.1 200 [^]*ok$/,
    ],
  ])('%#', async (bytes, answer) => {
    const {servers} = await startGround();
    expect(await raw(servers.urls.readOnly ?? '', bytes)).toMatch(answer);
    expect((await askAt(servers.urls.readOnly ?? '', '/healthz')).status).toBe(200);
  });

  test('who neither reads nor ends holds up no end', async () => {
    const {servers, end} = await startGround();
    const {hostname, port} = new URL(servers.urls.readOnly ?? '');
    const socket = connectTcp(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.write('GET /pods HTTP/1.1\r\nHost:');
    await until(() => !socket.connecting);
    end.abort();
    await servers.closed;
    await until(() => socket.destroyed || socket.closed);
    await expect(askAt(servers.urls.health ?? '', '/healthz')).rejects.toThrow('ECONNREFUSED');
  });
});

describe('the certificate', () => {
  test('is made with a key for its owner alone, and kept', async () => {
    const {directory} = await startGround({
      options: {certificate: {certDir: '', names: []}, main: undefined},
    });
    const certDir = join(directory, 'pki');
    const certificate = {certDir, names: ['192.0.2.7', 'fd00::1', 'kubelet.example']};
    await startGround({options: {certificate}});
    const first = await readFile(join(certDir, 'kubelet.crt'), 'utf8');
    expect((await stat(join(certDir, 'kubelet.key'))).mode & 0o777).toBe(0o600);
    const parsed = new X509Certificate(first);
    expect(parsed.subject).toMatch(/^CN=node-1@\d+$/);
    for (const name of ['node-1', 'localhost', 'kubelet.example']) expect(parsed.checkHost(name)).toBe(name);
    for (const ip of ['127.0.0.1', '::1', '192.0.2.7', 'fd00::1']) expect(parsed.checkIP(ip)).toBe(ip);
    expect(parsed.verify(parsed.publicKey)).toBe(true);
    await startGround({options: {certificate}});
    expect(await readFile(join(certDir, 'kubelet.crt'), 'utf8')).toBe(first);
  });

  test('is never made in the place of what somebody has put there', async () => {
    const {directory} = await startGround();
    const certificate = {certDir: join(directory, 'pki'), names: []};
    const key = join(certificate.certDir, 'kubelet.key');
    await writeFile(key, 'not a key');
    const broken = startGround({options: {certificate}});
    await expect(broken).rejects.toThrow(/reading the certificate/);
    await expect(broken).rejects.not.toThrow(/not a key/);
    await rm(key);
    await expect(startGround({options: {certificate}})).rejects.toThrow(/only one is there/);
  });
});
