import {X509Certificate} from 'node:crypto';
import {lstat, readFile, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test, vi} from 'vitest';
import {requestAt, startServerTestbed} from '../../managers/server/server-testbed.js';
import {RotatedCertificate} from '../../../../src/kubelet/cluster/certificates/rotated-certificate.js';
import {SILENT_LOGGER} from '../../../../src/base/logger.js';
import {connectApiServer, openCredentials, readClusterAccess} from '../../../../src/kube-api/index.js';
import {bootstrapKubeconfig} from '../../../../src/kubelet/cluster/certificates/bootstrap-kubeconfig.js';
import {rotationDeadline} from '../../../../src/kubelet/cluster/certificates/certificate-manager.js';
import {CertificateStore} from '../../../../src/kubelet/cluster/certificates/certificate-store.js';
import {openNodeCertificates} from '../../../../src/kubelet/cluster/certificates/node-certificates.js';
import {createSelfSignedPair} from '../../../../src/format/x509/self-signed-certificate.js';
import {createCertificateRequest} from '../../../../src/format/x509/certificate-request.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {CLUSTER_CA, signCertificateRequest} from '../../../fakes/api-server/certificate-signer.js';
import {FakeApiServer} from '../../../fakes/api-server/fake-api-server.js';
import type {StoredObject} from '../../../fakes/api-server/object-storage.js';
import {FakeClock} from '../../../fakes/fake-clock.js';

const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const DAY_MS = 86_400_000;

interface Testbed {
  readonly api: FakeApiServer;
  readonly clock: FakeClock;
  readonly directory: string;
  readonly signal: AbortSignal;
  /** Kubeconfig with a bootstrap token. */
  readonly bootstrap: string;
  readonly connect: (kubeconfig: string) => ReturnType<typeof connectApiServer>;
}

async function start(): Promise<Testbed> {
  const {certificate: cert, key} = createSelfSignedPair({
    ...{commonName: 'kubernetes', names: ['kubernetes'], notBeforeMs: 0, notAfterMs: 4e12},
  });
  const api = await FakeApiServer.start({tls: {cert, key}});
  const directory = await temporaryDirectory();
  const clock = new FakeClock({nowMs: Date.now()});
  const end = new AbortController();
  onTestFinished(async () => {
    end.abort();
    await api[Symbol.asyncDispose]();
  });
  const bootstrap = join(directory, 'bootstrap.conf');
  const config = {
    'current-context': 'x',
    contexts: [{name: 'x', context: {cluster: 'c', user: 'u'}}],
    clusters: [
      {
        name: 'c',
        cluster: {
          server: api.url,
          'tls-server-name': 'kubernetes',
          'certificate-authority-data': Buffer.from(cert).toString('base64'),
        },
      },
    ],
    users: [{name: 'u', user: {token: 'bootstrap-token'}}],
  };
  await writeFile(bootstrap, JSON.stringify(config));
  const connect = async (kubeconfig: string): ReturnType<typeof connectApiServer> =>
    await connectApiServer({
      kubeconfig,
      rotatedFile: join(directory, 'pki/kubelet-client-current.pem'),
      ...{qps: 0, burst: 0, eventQps: 0, eventBurst: 0},
      userAgent: 'kcri',
      clock,
      signal: end.signal,
    });
  return {api, clock, directory, bootstrap, connect, signal: end.signal};
}

/** Waits for requests without an answer and sets their status. */
async function answerRequest(api: FakeApiServer, statusOf: (request: string) => object): Promise<void> {
  const csr = await vi.waitFor((): StoredObject => {
    const open = api.storage.list(CSRS).filter(({status}) => Object.keys(status as object).length === 0);
    if (open[0] === undefined) throw new Error('no request is open');
    return open[0];
  });
  const {request} = csr['spec'] as {readonly request: string};
  const status = statusOf(Buffer.from(request, 'base64').toString());
  api.storage.put(`${CSRS}/${csr.metadata.name}`, {...csr, status});
}

const signed = (request: string): object => ({
  certificate: Buffer.from(signCertificateRequest(request)).toString('base64'),
});
const denied = (): object => ({conditions: [{type: 'Denied', reason: 'No', message: 'unknown node'}]});

function startBootstrap({connect, clock, directory, bootstrap, signal}: Testbed): Promise<void> {
  return bootstrapKubeconfig(
    {
      kubeconfig: join(directory, 'etc/kubelet.conf'),
      bootstrapKubeconfig: bootstrap,
      store: new CertificateStore(join(directory, 'pki'), 'kubelet-client'),
      nodeName: 'node-1',
      ...{connect, clock},
      random: () => 0,
      logger: SILENT_LOGGER,
    },
    signal,
  );
}

describe('TLS bootstrap', () => {
  test('requests a client certificate and writes a kubeconfig that refers to it', async () => {
    const testbed = await start();
    const {api, directory, clock, signal} = testbed;
    const done = startBootstrap(testbed);
    await answerRequest(api, signed);
    await done;
    const created = api.requests.find(({method}) => method === 'POST');
    expect(created?.headers['authorization']).toBe('Bearer bootstrap-token');
    expect(created?.body).toMatchObject({
      metadata: {generateName: 'csr-'},
      spec: {
        signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
        usages: ['digital signature', 'client auth'],
      },
    });
    const file = join(directory, 'etc/kubelet.conf');
    const current = join(directory, 'pki/kubelet-client-current.pem');
    expect([(await stat(file)).mode & 0o777, (await stat(current)).mode & 0o777]).toEqual([0o600, 0o600]);
    expect((await lstat(current)).isSymbolicLink()).toBe(true);
    const access = await readClusterAccess(file, signal);
    expect(access).toMatchObject({tlsServerName: 'kubernetes', token: undefined});
    const {tls} = await (await openCredentials(access, {file, clock})).current();
    expect(new X509Certificate(tls.cert ?? '').subject).toBe('O=system:nodes\nCN=system:node:node-1');
    const before = api.requests.length;
    await startBootstrap(testbed);
    expect(api.requests).toHaveLength(before);
  });

  test('a denied request is followed by another one after a delay', async () => {
    const testbed = await start();
    const {api, clock} = testbed;
    const done = startBootstrap(testbed);
    await answerRequest(api, denied);
    await vi.waitFor(() => {
      expect(clock.sleeps.at(-1)).toBe(2000);
    });
    await clock.advance(2000);
    await answerRequest(api, signed);
    await done;
  });

  test('a certificate for another key is not stored', async () => {
    const testbed = await start();
    const {api, clock, directory} = testbed;
    startBootstrap(testbed).catch(() => undefined);
    await answerRequest(api, () => ({certificate: Buffer.from('garbage').toString('base64')}));
    await vi.waitFor(() => {
      expect(clock.sleeps.at(-1)).toBe(2000);
    });
    await expect(stat(join(directory, 'pki'))).rejects.toThrow('ENOENT');
  });
});

describe('rotation', () => {
  test('a certificate is replaced after 70 to 90 % of its lifetime', () => {
    const certificate = signCertificateRequest(requestOf());
    const {validFrom} = new X509Certificate(certificate);
    const shares = [0, 2 ** 31, 2 ** 32 - 1].map(
      (random) => (rotationDeadline(certificate, () => random) - Date.parse(validFrom)) / DAY_MS,
    );
    expect(shares.map((share) => share.toFixed(2))).toEqual(['0.70', '0.80', '0.90']);
  });

  test('a serving certificate is requested, stored, announced, and replaced in time', async () => {
    const testbed = await start();
    const {api, clock, directory, signal} = testbed;
    const certDir = join(directory, 'pki');
    const server = await testbed.connect(testbed.bootstrap);
    const {managers, serving} = await openNodeCertificates({
      server,
      node: {nodeName: 'node-1', hostIps: {current: ['192.0.2.7']}},
      certDir,
      rotatesClient: false,
      requestsServing: true,
      clock,
      random: () => 0,
      logger: SILENT_LOGGER,
    });
    const seen = vi.fn<Parameters<NonNullable<typeof serving>['subscribe']>[0]>();
    serving?.subscribe(seen);
    for (const manager of managers) manager.run(signal).catch(() => undefined);
    await answerRequest(api, signed);
    await vi.waitFor(() => {
      expect(seen).toHaveBeenCalledTimes(1);
    });
    expect(serving?.current?.certificate).toBe(seen.mock.calls[0]?.[0].certificate);
    const stored = await readFile(join(certDir, 'kubelet-server-current.pem'), 'utf8');
    expect(stored).toContain(serving?.current?.certificate.trim());
    await vi.waitFor(() => {
      expect(clock.sleeping).toBe(1);
    });
    await clock.advance(DAY_MS);
    await answerRequest(api, signed);
    await vi.waitFor(() => {
      expect(seen).toHaveBeenCalledTimes(2);
    });
    server[Symbol.dispose]();
  });

  test('a new client certificate is stored and used', async () => {
    const {api, bootstrap, clock, connect, directory, signal} = await start();
    const certDir = join(directory, 'pki');
    using server = await connect(bootstrap);
    const {managers} = await openNodeCertificates({
      server,
      node: {nodeName: 'node-1', hostIps: {current: []}},
      certDir,
      rotatesClient: true,
      requestsServing: false,
      clock,
      random: () => 0,
      logger: SILENT_LOGGER,
    });
    for (const manager of managers) manager.run(signal).catch(() => undefined);
    await answerRequest(api, signed);
    const certificate = await vi.waitFor(async () => {
      const {tls} = await server.credentials.current();
      if (tls.cert === undefined) throw new Error('the certificate is not in use');
      return tls.cert;
    });
    expect(new X509Certificate(certificate).subject).toBe('O=system:nodes\nCN=system:node:node-1');
  });

  test('the server uses a certificate as soon as it is issued', async () => {
    const issued = new RotatedCertificate(undefined);
    const {servers} = await startServerTestbed({
      options: {certificate: {certDir: '/nonexistent', names: [], issued}},
    });
    const url = servers.urls.main ?? '';
    await expect(requestAt(url, '/healthz')).rejects.toThrow(/handshake/);
    issued.replace(CLUSTER_CA);
    expect(await requestAt(url, '/healthz')).toMatchObject({status: 200});
  });

  test('an unusable stored certificate is an error that does not show the key', async () => {
    const directory = await temporaryDirectory();
    const store = new CertificateStore(directory, 'kubelet-client');
    await writeFile(
      store.currentPath,
      '-----BEGIN EC PRIVATE KEY-----\nsecret\n-----END EC PRIVATE KEY-----\n',
    );
    await expect(store.current()).rejects.toThrow(/^invalid certificate or private key in/);
    await expect(store.current()).rejects.not.toThrow(/secret/);
  });
});

function requestOf(): string {
  return createCertificateRequest({commonName: 'n', organizations: []}).request;
}
