import {once} from 'node:events';
import {writeFile} from 'node:fs/promises';
import {createServer, type Server} from 'node:http';
import {createServer as createTlsServer} from 'node:https';
import type {AddressInfo} from 'node:net';
import {join} from 'node:path';
import type {TLSSocket} from 'node:tls';
import {describe, expect, onTestFinished, test} from 'vitest';
import type {LocalKubelet} from '../../src/cli/process/context.js';
import {createSelfSignedPair} from '../../src/format/x509/self-signed-certificate.js';
import {temporaryDirectory} from '../base/temporary-directory.js';
import {runKcri} from '../cli/run-kcri.js';
import {aContainer, aSandbox, BUILT_AT_NANOS, FakeRuntime} from '../fakes/fake-runtime.js';

/** Port without a listener. */
const CLOSED = 1;

const status = (phase: string, containerStatuses: readonly object[]) => ({phase, containerStatuses});
const running = {running: {startedAt: '2026-05-01T12:00:00Z'}};
const PODS = {
  kind: 'PodList',
  items: [
    {
      metadata: {
        name: 'web',
        namespace: 'shop',
        uid: 'uid-of-web',
        creationTimestamp: '2026-05-01T12:00:00Z',
      },
      spec: {
        initContainers: [{name: 'proxy', image: 'proxy', restartPolicy: 'Always'}],
        containers: [{name: 'main', image: 'busybox', env: [{name: 'A', value: 'b'}]}],
      },
      status: {
        ...status('Running', [
          {name: 'main', ready: false, restartCount: 4, image: '', imageID: '', state: running},
        ]),
        initContainerStatuses: [
          {
            name: 'proxy',
            ready: true,
            started: true,
            restartCount: 0,
            image: '',
            imageID: '',
            state: running,
          },
        ],
      },
    },
    {
      metadata: {
        name: 'waits',
        namespace: 'shop',
        uid: 'uid-of-waits',
        creationTimestamp: '2026-05-01T12:00:00Z',
      },
      spec: {containers: [{name: 'main', image: 'busybox'}]},
      status: status('Pending', []),
    },
    {metadata: {name: 'malformed', uid: 3}, spec: 'x'},
  ],
};

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function serve(body: string, statusCode = 200): Promise<LocalKubelet> {
  const server = createServer((request, response) => {
    response.writeHead(request.url === '/pods' ? statusCode : 404).end(body);
  });
  return {readOnlyPort: await listen(server), port: CLOSED, credentials: []};
}

async function startRuntime(uid = 'uid-of-web') {
  const web = aSandbox({name: 'web', namespace: 'shop', uid});
  const runtime = await FakeRuntime.start({
    sandboxes: [web],
    containers: [
      aContainer({sandbox: web, name: 'proxy'}),
      aContainer({sandbox: web, name: 'main', createdAt: BUILT_AT_NANOS + 9n}),
    ],
    exec: () => ({stdout: 'done\n', stderr: '', exitCode: 0}),
  });
  onTestFinished(async () => {
    await runtime.stop();
  });
  return runtime;
}

async function getPods(localKubelet: LocalKubelet | undefined, uid?: string): Promise<string> {
  const {endpoint} = await startRuntime(uid);
  const rootDir = await temporaryDirectory();
  const args = ['--root-dir', rootDir, 'get', 'pods', '--no-headers'];
  const {stdout, stderr} = await runKcri(args, {endpoint, localKubelet});
  expect(stderr).toBe('');
  return stdout.replaceAll(/ +\d+[a-z]\w*/g, ' <age>');
}

const FULL =
  'shop   waits   0/1   Pending   0   <age>   kubelet\nshop   web     1/2   Running   4   <age>   kubelet\n';
const RESTORED = 'shop   web   2/2   Running   0   <age>   kubelet\n';
const squeeze = (text: string): string => text.replaceAll(/ +/g, ' ');

describe('the kubelet of this machine', () => {
  test('supplies the status of its pods, and those without a sandbox', async () => {
    expect(squeeze(await getPods(await serve(JSON.stringify(PODS))))).toBe(squeeze(FULL));
  });

  test('supplies the spec, so that a sidecar is not the default container', async () => {
    const {endpoint, callsTo} = await startRuntime().then((runtime) => ({
      endpoint: runtime.endpoint,
      callsTo: () => runtime.callsTo('ExecSync'),
    }));
    const localKubelet = await serve(JSON.stringify(PODS));
    const {stderr} = await runKcri(['exec', '-s', 'web', 'true'], {endpoint, localKubelet});
    expect(stderr).toBe('Defaulted container "main" out of: main, proxy (init)\n');
    expect(callsTo()).toHaveLength(1);
    const described = await runKcri(['describe', 'web'], {endpoint, localKubelet});
    expect(described.stdout).toMatch(/\n {4}Environment:\n {6}A: +b\n/);
  });

  test.each<[string, () => Promise<LocalKubelet | undefined>]>([
    ['there is none', async () => undefined],
    ['it does not listen', async () => ({readOnlyPort: CLOSED, port: CLOSED, credentials: []})],
    ['it denies access', async () => await serve('Forbidden', 403)],
    ['it sends something else', async () => await serve('<html>')],
    ['it sends another object', async () => await serve('{"items":3}')],
  ])('is not needed: %s', async (_, kubelet) => {
    expect(squeeze(await getPods(await kubelet()))).toBe(squeeze(RESTORED));
  });

  test('that never answers delays the command by its time limit only', async () => {
    const readOnlyPort = await listen(createServer(() => undefined));
    const kubelet = {readOnlyPort, port: CLOSED, credentials: []};
    expect(squeeze(await getPods(kubelet))).toBe(squeeze(RESTORED));
  });

  test('on another runtime supplies no pods', async () => {
    expect(squeeze(await getPods(await serve(JSON.stringify(PODS)), 'another'))).toBe(squeeze(RESTORED));
  });

  test.each(['PEM files', 'a kubeconfig'])(
    'is asked over TLS with the client certificate of %s',
    async (kind) => {
      const directory = await temporaryDirectory();
      const validity = {notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000};
      const ofServer = createSelfSignedPair({commonName: 'node', names: ['node'], ...validity});
      const client = createSelfSignedPair({commonName: 'admin', names: ['admin'], ...validity});
      const [cert, key] = [join(directory, 'cert'), join(directory, 'key')];
      const base64 = (text: string): string => Buffer.from(text).toString('base64');
      if (kind === 'PEM files') {
        await writeFile(cert, client.certificate);
        await writeFile(key, client.key);
      } else {
        const fields = `    client-certificate-data: ${base64(client.certificate)}\n    client-key-data: ${base64(client.key)}\n`;
        for (const path of [cert, key]) await writeFile(path, `users:\n- user:\n${fields}`);
      }
      const server = createTlsServer(
        {
          cert: ofServer.certificate,
          key: ofServer.key,
          requestCert: true,
          rejectUnauthorized: false,
        },
        (request, response) => {
          const {subject} = (request.socket as TLSSocket).getPeerCertificate();
          response.writeHead(subject.CN === 'admin' ? 200 : 401).end(JSON.stringify(PODS));
        },
      );
      const port = await listen(server);
      const missing = {cert: join(directory, 'missing'), key: join(directory, 'missing')};
      const localKubelet = {readOnlyPort: CLOSED, port, credentials: [missing, {cert, key}]};
      expect(squeeze(await getPods(localKubelet))).toBe(squeeze(FULL));
    },
  );
});
