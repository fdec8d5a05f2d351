import {isDeepStrictEqual} from 'node:util';
import {readFile, rm, stat, writeFile} from 'node:fs/promises';
import {connect as connectTcp} from 'node:net';
import {text} from 'node:stream/consumers';
import {connect as connectTls} from 'node:tls';
import {X509Certificate} from 'node:crypto';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {podUid} from '../../../src/cri/index.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {until} from '../../base/until.js';
import {parseExposition} from '../managers/metrics/parse-exposition.js';
import {requestAt, runningStatus, startServerTestbed, UID, webPod} from './server-testbed.js';

test.each([
  ['main', '--port or --address, or disable the server with --enable-server=false'],
  ['readOnly', '--read-only-port or --address, or disable the server with --read-only-port=0'],
  ['health', '--healthz-port or --healthz-bind-address, or disable the server with --healthz-port=0'],
] as const)('an unavailable address of %s is an error whose hint names the flags', async (name, flags) => {
  const {servers} = await startServerTestbed();
  const port = Number(new URL(servers.urls.main ?? '').port);
  const options = {[name]: {address: '127.0.0.1', port}};
  await expect(startServerTestbed({options})).rejects.toMatchObject({
    message: expect.stringMatching(
      `^cannot listen on 127\\.0\\.0\\.1:${port}: address already in use by .* \\(PID ${process.pid}\\)$`,
    ) as string,
    hint: expect.stringContaining(flags) as string,
  });
});

test('a missing client CA bundle is an error that names the file', async () => {
  const access = {clientCaFile: '/nonexistent/ca.crt'};
  await expect(startServerTestbed({access})).rejects.toThrow(
    'reading the client CA bundle "/nonexistent/ca.crt": no such file or directory',
  );
});

describe('pods', () => {
  test('/pods returns a PodList with status', async () => {
    const {request, kubelet} = await startServerTestbed();
    const conditions = [{type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z'}] as const;
    const pod = webPod({...runningStatus(), conditions});
    kubelet.pods = () => [pod];
    const {headers, body} = await request('/pods');
    expect(headers['content-type']).toBe('application/json');
    const {metadata, spec, status} = pod;
    expect(JSON.parse(body)).toEqual({
      kind: 'PodList',
      apiVersion: 'v1',
      metadata: {},
      items: [{metadata, spec, status: {...status, conditions: [{...conditions[0], lastProbeTime: null}]}}],
    });
  });

  test('/runningpods returns running pods with their containers', async () => {
    const {request} = await startServerTestbed();
    const {items} = JSON.parse((await request('/runningpods/')).body) as {items: unknown};
    expect(items).toMatchObject([
      {metadata: {name: 'web', namespace: 'team', uid: UID}, spec: {containers: [{name: 'main'}]}},
    ]);
  });

  test('/runningpods returns null for the containers of a pod that cannot be inspected', async () => {
    const {request, kubelet} = await startServerTestbed();
    kubelet.runtimeStatus = () => {
      throw new Error('not inspected');
    };
    const {items} = JSON.parse((await request('/runningpods/')).body) as {items: unknown};
    expect(items).toMatchObject([{spec: {containers: null}}]);
  });

  test('/configz returns the configuration', async () => {
    const {request} = await startServerTestbed();
    expect(JSON.parse((await request('/configz')).body)).toEqual({
      kubeletconfig: {kind: 'KubeletConfiguration', port: 10250},
    });
  });
});

describe('metrics', () => {
  test('/metrics counts pods, containers and requests', async () => {
    const {request: send} = await startServerTestbed();
    await send('/pods');
    const {headers, body} = await send('/metrics');
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

  test('clients cannot create series', async () => {
    const {request} = await startServerTestbed();
    for (const path of ['/made/up', '/metrics/made-up', '/%zz']) await request(path, {method: 'PROPFIND'});
    const {body} = await request('/metrics');
    expect(body).not.toMatch(/made|zz|PROPFIND/);
    expect(body).toContain('kubelet_http_requests_total{long_running="false",method="other",path="other"');
  });

  test('/metrics/resource covers node, containers and pods', async () => {
    const {request} = await startServerTestbed();
    const samples = parseExposition((await request('/metrics/resource')).body);
    const names = new Set(samples.map(({name}) => name));
    expect(names).toContain('node_cpu_usage_seconds_total');
    expect(names).toContain('node_memory_working_set_bytes');
    const container = samples.find(({name}) => name === 'container_memory_working_set_bytes');
    expect(container?.labels).toEqual({container: 'main', pod: 'web', namespace: 'team'});
    expect(samples.find(({name}) => name === 'resource_scrape_error')?.value).toBe(0);
  });

  test('/metrics/resource reports a scrape error if the runtime fails', async () => {
    const {request, runtime} = await startServerTestbed();
    runtime.injectError('ListContainerStats', {code: 'UNAVAILABLE', message: 'gone'});
    const samples = parseExposition((await request('/metrics/resource')).body);
    expect(samples).toEqual([{name: 'resource_scrape_error', labels: {}, value: 1}]);
  });

  test('/metrics/cadvisor serves the metrics of the runtime', async () => {
    const {request} = await startServerTestbed();
    const {status, body} = await request('/metrics/cadvisor');
    expect(status).toBe(200);
    expect(parseExposition(body).length).toBeGreaterThan(0);
  });

  test('/stats/summary covers node and pods, and only CPU and memory on request', async () => {
    const {request} = await startServerTestbed();
    const whole = JSON.parse((await request('/stats/summary')).body) as Record<string, object>;
    expect(whole['node']).toMatchObject({nodeName: 'node-1', cpu: {}, memory: {}, fs: {}, runtime: {}});
    expect(whole['pods']).toMatchObject([
      {podRef: {name: 'web', namespace: 'team', uid: UID}, containers: [{name: 'main', rootfs: {}}]},
    ]);
    const few = (await request('/stats/summary?only_cpu_and_memory=true')).body;
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

describe('container logs', () => {
  test.each([
    ['', 'one\ntwo\nthree\n'],
    ['?tailLines=2', 'o\nthree\n'],
    ['?tailLines=3', 'two\nthree\n'],
    ['?tail=1', 'three\n'],
    ['?tail=all', 'one\ntwo\nthree\n'],
    ['?tailLines=0', ''],
    ['?sinceTime=2026-01-01T00:00:03Z', 'three\n'],
    ['?sinceSeconds=1', ''],
    ['?limitBytes=6', 'one\ntw'],
    ['?timestamps=true&tailLines=1', '2026-01-01T00:00:03.000000004Z three\n'],
    ['?timestamps=0&tailLines=1', 'three\n'],
  ])('query %j selects lines', async (query, expected) => {
    const {request, logPath} = await startServerTestbed();
    await writeFile(logPath, `${LINES.join('\n')}\n`);
    expect(await request(`/containerLogs/team/web/main${query}`)).toMatchObject({
      status: 200,
      body: expected,
    });
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
    const {request} = await startServerTestbed();
    expect(await request(`/containerLogs/${path}`)).toMatchObject({status, body});
  });

  test.each([
    ['ContainerCreating', 'ContainerCreating'],
    ['ErrImagePull', "image can't be pulled"],
    ['ImagePullBackOff', 'trying and failing to pull image'],
  ])('the logs of a container that waits with %s are 400', async (reason, message) => {
    const {request, kubelet} = await startServerTestbed();
    const [status] = runningStatus().containerStatuses ?? [];
    const waiting = {...status!, containerID: '', state: {waiting: {reason}}};
    kubelet.pods = () => [webPod({phase: 'Pending', containerStatuses: [waiting]})];
    expect(await request('/containerLogs/team/web/main')).toMatchObject({
      status: 400,
      body: `container "main" in pod "web" is waiting to start: ${message}`,
    });
  });

  test('followed logs continue until the container exits', async () => {
    const {request, logPath, runtime} = await startServerTestbed();
    await writeFile(logPath, `${LINES[0]}\n`);
    const followed = request('/containerLogs/team/web/main?follow=true');
    await writeFile(logPath, `${LINES[3]}\n`, {flag: 'a'});
    runtime.exitContainer('main-id', 0);
    expect((await followed).body).toBe('one\nthree\n');
  });

  test('missing logs are 400 with the reason', async () => {
    const {request, runtime} = await startServerTestbed();
    runtime.injectError('ContainerStatus', {code: 'NOT_FOUND', message: 'no such container'});
    const {status, body} = await request('/containerLogs/team/web/main');
    expect({status, body}).toEqual({
      status: 400,
      body: 'unable to retrieve container logs for containerd://main-id: rpc error: code = NotFound desc = no such container',
    });
  });
});

describe('requests that are not served', () => {
  test.each([
    ['/', 404, '404 page not found\n'],
    ['/nope', 404, '404 page not found\n'],
    ['/exec/team', 404, '404: Page Not Found'],
  ])('%s is %i', async (path, status, body) => {
    const {request} = await startServerTestbed();
    expect(await request(path)).toMatchObject({status, body});
  });

  test('a wrong method is 405 with the allowed methods', async () => {
    const {request} = await startServerTestbed();
    const {status, headers} = await request('/pods', {method: 'DELETE'});
    expect({status, allow: headers.allow}).toEqual({status: 405, allow: 'GET'});
  });

  test.each([
    '/exec/team/web/main',
    '/run/team/web/main',
    '/containerLogs/team/web/main',
    '/runningpods/',
    '/logs/',
  ])('%s is 405 without debugging handlers', async (path) => {
    const {request, servers} = await startServerTestbed({options: {debuggingHandlers: false}});
    const disabled = {status: 405, body: 'Debug endpoints are disabled.\n'};
    expect(await request(path)).toMatchObject(disabled);
    expect(await requestAt(servers.urls.readOnly ?? '', path)).toMatchObject(disabled);
  });

  test('the read-only port serves no requests that change or reveal state', async () => {
    const {servers} = await startServerTestbed();
    const readOnly = servers.urls.readOnly ?? '';
    expect((await requestAt(readOnly, '/pods')).status).toBe(200);
    expect((await requestAt(readOnly, '/run/team/web/main?cmd=id', {method: 'POST'})).status).toBe(405);
    expect((await requestAt(readOnly, '/configz')).status).toBe(404);
    expect((await requestAt(readOnly, '/checkpoint/team/web/main', {method: 'POST'})).status).toBe(404);
  });
});

test('tlsCurvePreferences are the curves that the server offers', async () => {
  const certificate = {certDir: await temporaryDirectory(), names: ['127.0.0.1'], curves: ['P-384']};
  const {servers} = await startServerTestbed({options: {certificate}});
  const {hostname, port} = new URL(servers.urls.main ?? '');
  const handshake = async (ecdhCurve: string): Promise<string> =>
    await new Promise((resolve) => {
      const socket = connectTls({host: hostname, port: Number(port), ecdhCurve, rejectUnauthorized: false});
      socket.once('secureConnect', () => {
        resolve('connected');
        socket.destroy();
      });
      socket.once('error', () => {
        resolve('refused');
      });
    });
  expect([await handshake('P-384'), await handshake('P-256')]).toEqual(['connected', 'refused']);
});

describe('commands and checkpoints', () => {
  test.each(['', '/other-uid'])('/run executes the command, whatever the UID: %j', async (uid) => {
    const {request, runtime} = await startServerTestbed();
    const {status} = await request(`/run/team/web${uid}/main?cmd=echo%20hi`, {method: 'POST'});
    expect(status).toBe(200);
    expect(runtime.callsTo('ExecSync')[0]?.request).toMatchObject({cmd: ['echo', 'hi']});
  });

  test.each([
    ['/run/team/nope/main?cmd=id', 404, 'pod does not exist'],
    ['/run/team/web/nope?cmd=id', 500, 'container not found ("nope")'],
    ['/checkpoint/team/web/nope', 404, 'container nope does not exist'],
    ['/checkpoint/team/web/main?timeout=x', 404, 'cannot parse value of timeout parameter'],
    [
      '/checkpoint/team/web/main?timeout=-1',
      500,
      'checkpointing of team/web/main failed (CheckpointContainer requires the timeout value to be > 0)',
    ],
  ])('%s is %i', async (path, status, body) => {
    const {request} = await startServerTestbed();
    expect(await request(path, {method: 'POST'})).toMatchObject({status, body});
  });

  test('/run of a command that times out answers as the kubelet does', async () => {
    const {request, runtime} = await startServerTestbed();
    runtime.injectError('ExecSync', {code: 'DEADLINE_EXCEEDED', message: 'late'});
    expect(await request('/run/team/web/main?cmd=sleep%209', {method: 'POST'})).toMatchObject({
      status: 500,
      body: 'command timed out: "sleep 9" timed out after 0s',
    });
  });

  test('a checkpoint of a container that does not run is 500', async () => {
    const {request, kubelet, runtime} = await startServerTestbed();
    const status = kubelet.runtimeStatus(podUid(UID));
    kubelet.runtimeStatus = () => ({...status, containers: []});
    expect(await request('/checkpoint/team/web/main', {method: 'POST'})).toMatchObject({
      status: 500,
      body: 'checkpointing of team/web/main failed (container main not found)',
    });
    expect(runtime.callsTo('CheckpointContainer')).toHaveLength(0);
  });

  test('a checkpoint gets the name and timeout that the kubelet uses', async () => {
    const {request, runtime, directory} = await startServerTestbed();
    await request('/checkpoint/team/web/main', {method: 'POST'});
    const {
      container_id: containerId,
      location,
      timeout,
    } = runtime.callsTo('CheckpointContainer')[0]!.request as Record<string, unknown>;
    expect({containerId, timeout}).toEqual({containerId: 'main-id', timeout: '120'});
    expect(String(location).replace(directory, '')).toMatch(
      /^\/checkpoints\/checkpoint-web_team-main-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\.tar$/,
    );
    expect((await stat(join(directory, 'checkpoints'))).mode & 0o777).toBe(0o700);
  });

  test.each([
    ['5', '120'],
    ['0', '120'],
    ['300', '300'],
  ])('a checkpoint with a timeout of %s s has %s s', async (given, used) => {
    const {request, runtime} = await startServerTestbed();
    await request(`/checkpoint/team/web/main?timeout=${given}`, {method: 'POST'});
    const {timeout} = runtime.callsTo('CheckpointContainer')[0]!.request as Record<string, unknown>;
    expect(timeout).toBe(used);
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
  ])('an invalid or unusual request does not stop the server: %#', async (bytes, response) => {
    const {servers} = await startServerTestbed();
    expect(await raw(servers.urls.readOnly ?? '', bytes)).toMatch(response);
    expect((await requestAt(servers.urls.readOnly ?? '', '/healthz')).status).toBe(200);
  });

  test('an idle client does not delay the shutdown', async () => {
    const {servers, end} = await startServerTestbed();
    const {hostname, port} = new URL(servers.urls.readOnly ?? '');
    const socket = connectTcp(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.write('GET /pods HTTP/1.1\r\nHost:');
    await until(() => !socket.connecting);
    end.abort();
    await servers.closed;
    await until(() => socket.destroyed || socket.closed);
    await expect(requestAt(servers.urls.health ?? '', '/healthz')).rejects.toThrow('ECONNREFUSED');
  });
});

describe('serving certificate', () => {
  test('it is generated with a private key that only the owner can read, and reused', async () => {
    const {directory} = await startServerTestbed({
      options: {certificate: {certDir: '', names: []}, main: undefined},
    });
    const certDir = join(directory, 'pki');
    const certificate = {certDir, names: ['192.0.2.7', 'fd00::1', 'kubelet.example']};
    await startServerTestbed({options: {certificate}});
    const first = await readFile(join(certDir, 'kubelet.crt'), 'utf8');
    expect((await stat(join(certDir, 'kubelet.key'))).mode & 0o777).toBe(0o600);
    const parsed = new X509Certificate(first);
    expect(parsed.subject).toMatch(/^CN=node-1@\d+$/);
    for (const name of ['node-1', 'localhost', 'kubelet.example']) expect(parsed.checkHost(name)).toBe(name);
    for (const ip of ['127.0.0.1', '::1', '192.0.2.7', 'fd00::1']) expect(parsed.checkIP(ip)).toBe(ip);
    expect(parsed.verify(parsed.publicKey)).toBe(true);
    await startServerTestbed({options: {certificate}});
    expect(await readFile(join(certDir, 'kubelet.crt'), 'utf8')).toBe(first);
  });

  test('it never replaces files of the user', async () => {
    const {directory} = await startServerTestbed();
    const certificate = {certDir: join(directory, 'pki'), names: []};
    const key = join(certificate.certDir, 'kubelet.key');
    await writeFile(key, 'not a key');
    const broken = startServerTestbed({options: {certificate}});
    await expect(broken).rejects.toThrow(/invalid certificate/);
    await expect(broken).rejects.not.toThrow(/not a key/);
    await rm(key);
    await expect(startServerTestbed({options: {certificate}})).rejects.toThrow(
      /must exist together, but only one does/,
    );
  });
});
