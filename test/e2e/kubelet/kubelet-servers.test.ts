import {readdirSync} from 'node:fs';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {until} from '../../base/until.js';
import {createClientCertificate} from '../../kubelet/server/auth/client-certificate.js';
import {clusterRole, clusterRoleBinding, policyFile} from '../../kubelet/server/auth/rbac-manifests.js';
import {
  requestAt,
  type ReceivedResponse,
  type ServerRequestOptions,
} from '../../kubelet/server/server-testbed.js';
import {startKubeletTestbed, type KubeletTestbed, type ServingDaemon} from '../harness/kubelet-testbed.js';
import {aContainer, aManifest, shellCommand} from '../harness/manifests.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';
import {dial} from '../harness/spdy-client.js';

const NODE = 'served';
const POD = `servers-web-${NODE}`;
const ONCE = `servers-once-${NODE}`;
const admin = createClientCertificate('alice', 'admins');
const scraper = createClientCertificate('bob');
const stranger = createClientCertificate('mallory');

const POLICY = policyFile(
  clusterRole('all', '{apiGroups: [""], resources: ["*"], verbs: ["*"]}'),
  clusterRole('metrics', '{apiGroups: [""], resources: [nodes/metrics, nodes/pods], verbs: [get]}'),
  clusterRoleBinding('admins', '{kind: Group, name: admins}', 'all'),
  clusterRoleBinding('scrapers', '{kind: User, name: bob}', 'metrics'),
);

/** Prints three lines and runs until a file exists. */
const SAYS =
  'echo one; sleep 0.2; echo two >&2; sleep 0.2; echo three; until [ -e /go ]; do sleep 0.05; done; echo last';

describe.each(newestRuntime)("the kubelet's servers: $name", (which) => {
  let kubelet: KubeletTestbed;
  let daemon: ServingDaemon;
  const ask = async (path: string, options: ServerRequestOptions = {}): Promise<ReceivedResponse> =>
    await requestAt(daemon.urls.main, path, {client: admin, ...options});
  const logs = async (query = '', pod = POD): Promise<ReceivedResponse> =>
    await ask(`/containerLogs/default/${pod}/main${query}`);
  const openFiles = (): number => readdirSync(`/proc/${daemon.pid}/fd`).length;

  beforeAll(async () => {
    kubelet = await startKubeletTestbed(which, NODE);
    const {rootDir} = kubelet.podTestbed.runtime;
    const [policy, clientCa] = [join(rootDir, 'policy.yaml'), join(rootDir, 'clients.crt')];
    await writeFile(policy, POLICY);
    await writeFile(clientCa, `${admin.certificate}${scraper.certificate}`);
    const hostNetwork = true;
    const containers = [aContainer('main', {command: shellCommand(SAYS)})];
    await kubelet.put('servers-web', aManifest('servers-web', {hostNetwork, containers}));
    const never = {hostNetwork, containers, restartPolicy: 'Never'};
    await kubelet.put('servers-once', aManifest('servers-once', never));
    const gates = 'featureGates: {PodLogsQuerySplitStreams: true}\n';
    daemon = await kubelet.start(`authentication: {x509: {clientCAFile: ${clientCa}}}\n${gates}`, [
      ...['--authorization-policy-file', policy],
    ]);
    for (const pod of [POD, ONCE])
      await until(async () => (await logs('', pod)).body === 'one\ntwo\nthree\n');
  });
  afterAll(async () => {
    await kubelet[Symbol.asyncDispose]();
  });

  describe('logs', () => {
    test.each([
      ['?tailLines=2', 'two\nthree\n'],
      ['?tailLines=2&limitBytes=5', 'two\nt'],
      ['?sinceSeconds=3600&tailLines=1', 'three\n'],
      ['?sinceTime=2100-01-01T00:00:00Z', ''],
      ['?stream=Stderr', 'two\n'],
    ])('%s', async (query, body) => {
      expect(await logs(query)).toMatchObject({status: 200, body});
    });

    test('with timestamps', async () => {
      const {body} = await logs('?timestamps=true');
      expect(body).toMatch(/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}\S+ (one|two|three)\n){3}$/);
    });

    test.each([
      [`${POD}/nope`, 404, `container "nope" not found in pod "${POD}"`],
      ['nope/main', 404, 'pod "nope" does not exist'],
      [`${POD}/main?tailLines=-1`, 422, '{"message": "Invalid request."}'],
      [`${POD}/main?previous=true`, 400, `previous terminated container "main" in pod "${POD}" not found`],
    ])('of %s have the status %i', async (path, status, body) => {
      expect(await ask(`/containerLogs/default/${path}`)).toMatchObject({status, body});
    });

    test('are followed until the container exits', async () => {
      const before = openFiles();
      const followed = logs('?follow=true', ONCE);
      await ask(`/run/default/${ONCE}/main?cmd=touch%20/go`, {method: 'POST'});
      expect(await followed).toMatchObject({status: 200, body: 'one\ntwo\nthree\nlast\n'});
      expect((await logs('?follow=true', ONCE)).body).toBe('one\ntwo\nthree\nlast\n');
      await until(() => openFiles() <= before);
    });

    test('include those of the previous instance', async () => {
      await ask(`/run/default/${POD}/main?cmd=touch%20/go`, {method: 'POST'});
      await until(async () => (await logs('?previous=true')).status === 200);
      expect((await logs('?previous=true')).body).toBe('one\ntwo\nthree\nlast\n');
      await until(async () => (await logs()).body === 'one\ntwo\nthree\n');
    });

    test('release their files when the reader disconnects', async () => {
      const before = openFiles();
      const {pathname, host} = new URL(`${daemon.urls.main}/containerLogs/default/${POD}/main`);
      const sockets = await Promise.all(Array.from({length: 5}, () => dial(daemon.urls.main, admin)));
      for (const socket of sockets) {
        socket.write(`GET ${pathname}?follow=true HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
        let said = '';
        socket.on('data', (chunk: Buffer) => (said += chunk.toString()));
        await until(() => said.includes('three'));
      }
      expect(openFiles()).toBeGreaterThanOrEqual(before + 5);
      for (const socket of sockets) socket.destroy();
      await until(() => openFiles() <= before);
    });
  });

  describe('commands', () => {
    test('return their output', async () => {
      const answer = await ask(`/run/default/${POD}/main?cmd=echo%20hi%20there`, {method: 'POST'});
      expect(answer).toMatchObject({status: 200, body: 'hi there\n'});
    });

    test('return binary output unchanged', async () => {
      const answer = await ask(`/run/default/${POD}/main?cmd=printf%20%5C377`, {method: 'POST'});
      expect(answer).toMatchObject({status: 200, headers: {'content-length': '1'}});
    });

    test('return their failure', async () => {
      const answer = await ask(`/run/default/${POD}/main?cmd=cat%20/nope`, {method: 'POST'});
      expect(answer).toMatchObject({
        status: 500,
        body: "command 'cat /nope' exited with 1: cat: can't open '/nope': No such file or directory\n",
      });
    });

    test('in an exited container are rejected', async () => {
      const answer = await ask(`/run/default/${ONCE}/main?cmd=id`, {method: 'POST'});
      expect(answer).toMatchObject({status: 500, body: 'container not found ("main")'});
    });

    test("a checkpoint without CRIU returns the runtime's error", async () => {
      const answer = await ask(`/checkpoint/default/${POD}/main`, {method: 'POST'});
      expect(answer.status).toBe(500);
      expect(answer.body).toMatch(
        new RegExp(`^checkpointing of default/${POD}/main failed \\(rpc error: code = \\w+ desc = .*\\)$`),
      );
    });
  });

  test('pods are returned with their status, and running pods from the runtime', async () => {
    type List = {items: {metadata: {name: string}; status: {phase?: string}; spec: {containers: object[]}}[]};
    const wanted = JSON.parse((await ask('/pods')).body) as List;
    const phases = wanted.items.map(({metadata, status}) => [metadata.name, status.phase]);
    expect(Object.fromEntries(phases)).toEqual({[POD]: 'Running', [ONCE]: 'Succeeded'});
    const running = JSON.parse((await ask('/runningpods/')).body) as List;
    const web = running.items.find(({metadata}) => metadata.name === POD);
    expect(web?.spec.containers).toMatchObject([{name: 'main'}]);
  });

  test('configz returns the configuration in effect', async () => {
    const {kubeletconfig} = JSON.parse((await ask('/configz')).body) as {kubeletconfig: object};
    expect(kubeletconfig).toMatchObject({
      address: '127.0.0.1',
      authentication: {anonymous: {enabled: false}},
    });
  });

  test('profiles of the kubelet are returned to those who may use nodes/proxy', async () => {
    expect(await ask('/debug/pprof/profile?seconds=1')).toMatchObject({
      status: 200,
      headers: {'content-disposition': 'attachment; filename="profile"'},
    });
    expect((await ask('/debug/pprof/threadcreate?debug=1')).body).toMatch(/^threadcreate profile: total \d+/);
    const forbidden = await ask('/debug/pprof/profile?seconds=1', {client: scraper});
    expect(forbidden).toMatchObject({
      status: 403,
      body: 'Forbidden (user=bob, verb=get, resource=nodes, subresource(s)=[proxy])\n',
    });
  });

  test('logs of the node are returned, and no other files', async () => {
    expect((await ask('/logs/')).status).toBe(200);
    for (const [path, expected] of [
      // To /etc/passwd of the server, which it does not have.
      ['/logs/../../etc/passwd', 307],
      ['/logs/%2e%2e/%2e%2e/etc/passwd', 400],
      ['/logs/..%2f..%2fetc%2fpasswd', 400],
    ] as const) {
      const {status, body} = await ask(path);
      expect(status).toBe(expected);
      expect(body).not.toContain('root:');
    }
  });

  describe('authorization', () => {
    test.each([
      ['nobody', undefined, '/pods', 401, 'Unauthorized'],
      ['a stranger', stranger, '/pods', 401, 'Unauthorized'],
      ['bob', scraper, '/metrics/probes', 200, undefined],
      [
        'bob',
        scraper,
        '/configz',
        403,
        'Forbidden (user=bob, verb=get, resource=nodes, subresource(s)=[configz proxy])\n',
      ],
    ])('%s: %#', async (_who, client, path, ...[status, body]) => {
      const answer = await requestAt(daemon.urls.main, path, client === undefined ? {} : {client});
      expect(answer).toMatchObject({status, ...(body !== undefined && {body})});
    });

    test('read permission does not allow changes', async () => {
      const answer = await ask(`/run/default/${POD}/main?cmd=id`, {method: 'POST', client: scraper});
      expect(answer).toMatchObject({
        status: 403,
        body: 'Forbidden (user=bob, verb=create, resource=nodes, subresource(s)=[proxy])\n',
      });
    });

    test('the read-only port serves pods and health, and no commands', async () => {
      const readOnly = daemon.urls.readOnly;
      for (const path of ['/pods', '/healthz']) expect((await requestAt(readOnly, path)).status).toBe(200);
      for (const path of [`/containerLogs/default/${POD}/main`, '/logs/', '/runningpods/'])
        expect((await requestAt(readOnly, path)).status).toBe(405);
      for (const path of ['exec', 'attach', 'run'])
        expect((await requestAt(readOnly, `/${path}/default/${POD}/main`, {method: 'POST'})).status).toBe(
          405,
        );
      for (const path of ['/configz', '/checkpoint/default/x/y'])
        expect((await requestAt(readOnly, path)).status).toBe(404);
    });

    test('the health port serves the check that the process is alive, and nothing else', async () => {
      for (const path of ['/healthz', '/healthz/ping'])
        expect(await requestAt(daemon.urls.health, path)).toMatchObject({status: 200, body: 'ok'});
      for (const path of ['/healthz/syncloop', '/pods'])
        expect((await requestAt(daemon.urls.health, path)).status).toBe(404);
    });
  });

  test('a stopping daemon disconnects followers and exits', async () => {
    const socket = await dial(daemon.urls.main, admin);
    socket.write(`GET /containerLogs/default/${POD}/main?follow=true HTTP/1.1\r\nHost: x\r\n\r\n`);
    let [said, isOver] = ['', false];
    socket.on('data', (chunk: Buffer) => (said += chunk.toString()));
    socket
      .on('error', () => undefined)
      .on('close', () => (isOver = true))
      .on('end', () => socket.destroy());
    await until(() => said.includes('three'));
    daemon.kcri.kill('SIGTERM');
    expect((await daemon.kcri.exited).exitCode).toBe(0);
    await until(() => isOver);
    // The response is truncated, so that no client takes it for the complete log.
    expect(said).not.toMatch(/\r\n0\r\n\r\n$/);
  });

  test('anyone may do anything with anonymous access and AlwaysAllow', async () => {
    const anonymous = 'authentication: {anonymous: {enabled: true}}\nauthorization: {mode: AlwaysAllow}\n';
    daemon = await kubelet.start(anonymous);
    const run = async (): Promise<ReceivedResponse> =>
      await requestAt(daemon.urls.main, `/run/default/${POD}/main?cmd=echo%20x`, {method: 'POST'});
    await until(async () => (await run()).status === 200);
    expect(await run()).toMatchObject({status: 200, body: 'x\n'});
  });
});
