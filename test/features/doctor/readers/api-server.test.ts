import {createServer} from 'node:https';
import type {AddressInfo} from 'node:net';
import {once} from 'node:events';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {leaseOf, readApiServer} from '../../../../src/features/doctor/readers/api-server.js';
import {LocalFileReader} from '../../../../src/features/doctor/readers/local-file-reader.js';
import {createSelfSignedPair} from '../../../../src/format/x509/self-signed-certificate.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {FakeClock} from '../../../fakes/fake-clock.js';

const {signal} = new AbortController();
const pair = (commonName: string) =>
  createSelfSignedPair({commonName, names: ['localhost'], notBeforeMs: 0, notAfterMs: 4e12});
const server = pair('api');
const client = pair('system:node:node-1');
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Starts an API server, and returns the arguments of a kubelet with a kubeconfig for it. */
async function startServer(
  respond: (path: string) => string | undefined,
  user: object = {
    'client-certificate-data': base64(client.certificate),
    'client-key-data': base64(client.key),
  },
): Promise<readonly string[]> {
  const listening = createServer({cert: server.certificate, key: server.key}, ({url = ''}, response) => {
    const body = respond(url);
    // Without a body the server never answers.
    if (body !== undefined) response.writeHead(body === '' ? 404 : 200).end(body);
  }).listen(0, 'localhost');
  await once(listening, 'listening');
  onTestFinished(() => {
    listening.closeAllConnections();
    listening.close();
  });
  const {port} = listening.address() as AddressInfo;
  const path = join(await temporaryDirectory(), 'kubelet.conf');
  const cluster = {
    server: `https://localhost:${port}`,
    'certificate-authority-data': base64(server.certificate),
  };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'x',
    clusters: [{name: 'c', cluster}],
    contexts: [{name: 'x', context: {cluster: 'c', user: 'u'}}],
    users: [{name: 'u', user}],
  };
  await writeFile(path, JSON.stringify(config));
  return ['kubelet', `--kubeconfig=${path}`];
}

const read = async (argv: readonly string[], clock = new FakeClock()) =>
  await readApiServer({pid: 1, argv}, await LocalFileReader.open(signal), {clock, signal});

const LEASE = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const body = JSON.stringify({spec: {renewTime: '2026-11-27T11:59:55.123456Z', leaseDurationSeconds: 40}});

test('the lease of the node in the client certificate is read, with the time of the server', async () => {
  const argv = await startServer((path) => (path === `${LEASE}/node-1` ? body : ''));
  const found = await read(argv);
  expect(found).toMatchObject({
    value: {
      status: 200,
      node: 'node-1',
      lease: {renewedAt: '2026-11-27T11:59:55.123Z', durationSeconds: 40},
    },
  });
  expect(Date.parse('value' in found ? found.value.date : '')).not.toBeNaN();
  expect(JSON.stringify(found)).not.toContain('PRIVATE');
  expect(await read([...argv, '--hostname-override=other'])).toMatchObject({
    value: {status: 404, node: 'other'},
  });
});

test('a kubelet without a kubeconfig, or with a program for credentials', async () => {
  expect(await read(['kubelet', '--kubeconfig=/no/such'])).toMatchObject({isMissing: true});
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: '/bin/false',
    interactiveMode: 'Never',
  };
  expect(await read(await startServer(() => body, {exec}))).toMatchObject({
    error: expect.stringContaining('its credentials come from a program, which is not run') as string,
  });
});

test('a server that does not answer is waited for 1.5 s', async () => {
  const clock = new FakeClock();
  const argv = await startServer(() => {
    void clock.advance(1500);
    return undefined;
  });
  expect(await read(argv, clock)).toMatchObject({
    error: expect.stringContaining('the API server gave no answer within 1.5s') as string,
  });
});

test.each(['', '{}', '{"spec": 1}', '{"spec": {"renewTime": "x"}}'])('no lease in %j', (text) => {
  expect(leaseOf(text)).toBeUndefined();
});
