import {mkdir, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {onTestFinished, vi} from 'vitest';
import type {Node} from '../../../../src/api/types/v1-node.js';
import {SILENT_LOGGER} from '../../../../src/base/logger.js';
import {createCertificateRequest} from '../../../../src/format/x509/certificate-request.js';
import {createSelfSignedPair} from '../../../../src/format/x509/self-signed-certificate.js';
import type {CertificatePair} from '../../../../src/format/x509/x509-parts.js';
import {connectApiServer, type ConnectApiServerOptions} from '../../../../src/kube-api/connect-api-server.js';
import {CertificateStore} from '../../../../src/kubelet/cluster/certificates/certificate-store.js';
import {
  openNodeCertificates,
  type NodeCertificates,
  type NodeCertificatesOptions,
} from '../../../../src/kubelet/cluster/certificates/node-certificates.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {until} from '../../../base/until.js';
import {signCertificateRequest} from '../../../fakes/api-server/certificate-signer.js';
import {FakeApiServer} from '../../../fakes/api-server/fake-api-server.js';
import type {StoredObject} from '../../../fakes/api-server/object-storage.js';
import {FakeClock} from '../../../fakes/fake-clock.js';

export const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
export const DAY_MS = 86_400_000;

type ApiServerOfTest = Awaited<ReturnType<typeof connectApiServer>>;

/** An API server, and files of the node `node-1`. */
export interface CertificatesTestbed {
  readonly api: FakeApiServer;
  readonly clock: FakeClock;
  readonly directory: string;
  readonly signal: AbortSignal;
  /** Kubeconfig with a bootstrap token. */
  readonly bootstrap: string;
  /** Store of the client certificates. */
  readonly store: CertificateStore;
  /** Connects with the credentials of a kubeconfig and the store. */
  readonly connect: (kubeconfig: string, isBootstrapping?: boolean) => Promise<ApiServerOfTest>;
  /** Writes a kubeconfig for a user and returns its path. */
  readonly writeKubeconfig: (name: string, user: object) => Promise<string>;
}

export async function startCertificatesTestbed(): Promise<CertificatesTestbed> {
  const {certificate: cert, key} = createSelfSignedPair({
    ...{commonName: 'kubernetes', names: ['kubernetes'], notBeforeMs: 0, notAfterMs: 4e12},
  });
  // Credentials are sent with TLS only.
  const api = await FakeApiServer.start({tls: {cert, key}});
  const directory = await temporaryDirectory();
  const clock = new FakeClock({nowMs: Date.now()});
  const end = new AbortController();
  onTestFinished(async () => {
    end.abort();
    await api[Symbol.asyncDispose]();
  });
  const store = new CertificateStore(join(directory, 'pki'), 'kubelet-client');
  const cluster = {
    server: api.url,
    'tls-server-name': 'kubernetes',
    'certificate-authority-data': Buffer.from(cert).toString('base64'),
  };
  const writeKubeconfig = async (name: string, user: object): Promise<string> => {
    const file = join(directory, name);
    const config = {
      'current-context': 'x',
      contexts: [{name: 'x', context: {cluster: 'c', user: 'u'}}],
      clusters: [{name: 'c', cluster}],
      users: [{name: 'u', user}],
    };
    await mkdir(dirname(file), {recursive: true});
    await writeFile(file, JSON.stringify(config));
    return file;
  };
  const options: Omit<ConnectApiServerOptions, 'kubeconfig'> = {
    rotatedFile: store.currentPath,
    ...{qps: 0, burst: 0, eventQps: 0, eventBurst: 0},
    userAgent: 'kcri',
    clock,
    signal: end.signal,
  };
  return {
    ...{api, clock, directory, store, writeKubeconfig},
    bootstrap: await writeKubeconfig('bootstrap.conf', {token: 'bootstrap-token'}),
    connect: async (kubeconfig, isBootstrapping = false) => {
      const server = await connectApiServer({...options, kubeconfig, isBootstrapping});
      onTestFinished(() => {
        server[Symbol.dispose]();
      });
      return server;
    },
    signal: end.signal,
  };
}

/** A Node object with these addresses. */
export function aNode(...addresses: NonNullable<NonNullable<Node['status']>['addresses']>): Node {
  return {metadata: {name: 'node-1'}, spec: {}, status: {addresses}} as unknown as Node;
}

/** Opens the certificates of the node and runs their managers; `failed` resolves with the error that ends one. */
export async function runCertificates(
  {clock, directory, signal}: CertificatesTestbed,
  options: Partial<NodeCertificatesOptions> & Pick<NodeCertificatesOptions, 'server'>,
): Promise<NodeCertificates & {readonly failed: Promise<unknown>}> {
  const certificates = await openNodeCertificates({
    nodeName: 'node-1',
    node: () => undefined,
    certDir: join(directory, 'pki'),
    rotatesClient: false,
    requestsServing: false,
    clock,
    random: () => 0,
    logger: SILENT_LOGGER,
    ...options,
  });
  const running = Promise.all(certificates.managers.map(async (manager) => await manager.run(signal)));
  return {...certificates, failed: running.catch((error: unknown) => error)};
}

/** Creates a client certificate of the node that is valid for some days from now. */
export function createPair(days: number): CertificatePair {
  const {request, key} = createCertificateRequest({
    commonName: 'system:node:node-1',
    organizations: ['system:nodes'],
  });
  return {certificate: signCertificateRequest(request, days), key};
}

/** User of a kubeconfig that contains a certificate. */
export function embeddedUser({certificate, key}: CertificatePair): object {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return {'client-certificate-data': base64(certificate), 'client-key-data': base64(key)};
}

/** Repeats until nothing is thrown, on a slow machine too, and resolves with the result. */
export async function eventually<T>(attempt: () => T | Promise<T>): Promise<T> {
  return await vi.waitFor(attempt, {timeout: 300_000});
}

/** Waits for a request without an answer. */
export async function openRequest(api: FakeApiServer): Promise<StoredObject> {
  return await eventually((): StoredObject => {
    const open = api.storage.list(CSRS).filter(({status}) => Object.keys(status as object).length === 0);
    if (open[0] === undefined) throw new Error('no request is open');
    return open[0];
  });
}

/** Waits for a request without an answer and sets its status. */
export async function answerRequest(
  api: FakeApiServer,
  statusOf: (request: string) => object,
): Promise<void> {
  const csr = await openRequest(api);
  api.storage.put(`${CSRS}/${csr.metadata.name}`, {...csr, status: statusOf(textOf(csr))});
}

/** Returns the request in PEM. */
export function textOf(csr: StoredObject): string {
  return Buffer.from((csr['spec'] as {readonly request: string}).request, 'base64').toString();
}

export const signed = (request: string): object => ({
  certificate: Buffer.from(signCertificateRequest(request)).toString('base64'),
});
export const denied = (): object => ({
  conditions: [{type: 'Denied', reason: 'No', message: 'unknown node'}],
});

/** Requests for certificates that the API server received. */
export function created(api: FakeApiServer): FakeApiServer['requests'] {
  return api.requests.filter(({method, path}) => method === 'POST' && path === CSRS);
}

/** Lets the time pass by `ms` in steps until the condition holds. */
export async function advanceUntil(clock: FakeClock, ms: number, condition: () => boolean): Promise<void> {
  await until(async () => {
    if (condition()) return true;
    await clock.advance(ms);
    return false;
  });
}
