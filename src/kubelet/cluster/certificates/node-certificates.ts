import {X509Certificate} from 'node:crypto';
import type {Node} from '../../../api/types/v1-node.js';
import type {Clock, RandomSource} from '../../../base/clock.js';
import type {Logger} from '../../../base/logger.js';
import type {ObserveCertificate} from '../../contract/cluster/certificate-observer.js';
import type {ApiServer, FileCredentials} from '../../../kube-api/index.js';
import {CertificateManager} from './certificate-manager.js';
import {clientPurpose, servingNames, servingPurpose} from './certificate-purpose.js';
import {CertificateStore} from './certificate-store.js';
import {ClientCertificateWatch} from './client-certificate-watch.js';
import {RotatedCertificate} from './rotated-certificate.js';

/** Returns the store of the node's client certificates in the certificate directory. */
export function clientCertificateStore(certDir: string): CertificateStore {
  return new CertificateStore(certDir, 'kubelet-client');
}

/** Options of {@link openNodeCertificates}. */
export interface NodeCertificatesOptions {
  readonly server: Pick<ApiServer, 'client' | 'credentials'>;
  /** API server with other credentials, for requests while the node has no client certificate. */
  readonly bootstrap?: Pick<ApiServer, 'client'> | undefined;
  readonly nodeName: string;
  /** Returns the Node object; undefined until it is known. Its addresses are the names of the serving certificate. */
  readonly node: () => Node | undefined;
  readonly certDir: string;
  /** True to replace the client certificate before it expires (rotateCertificates). */
  readonly rotatesClient: boolean;
  /** True to request a serving certificate (serverTLSBootstrap). */
  readonly requestsServing: boolean;
  /** Creates the observers of the certificates; none by default. */
  readonly observe?: ObserveCertificate | undefined;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
}

/** Certificates of the node that a control plane issues. */
export interface NodeCertificates {
  /** Managers to run as long as the kubelet runs. */
  readonly managers: readonly Pick<CertificateManager, 'run'>[];
  /** Resolves when the node has the client certificate that its kubeconfig names. */
  readonly issued: Promise<void>;
  readonly serving: RotatedCertificate | undefined;
}

/** Returns the managers of the node's certificates, as configured. Rejects with ConfigError for unusable files. */
export async function openNodeCertificates(options: NodeCertificatesOptions): Promise<NodeCertificates> {
  const {server, nodeName, node, certDir} = options;
  const {clock, random, logger} = options;
  const client = options.rotatesClient ? await openClient(options) : undefined;
  const {managers = [], issued = Promise.resolve()} = client ?? {};
  if (!options.requestsServing) return {managers, issued, serving: undefined};
  const store = new CertificateStore(certDir, 'kubelet-server');
  const serving = new RotatedCertificate(await store.current());
  const manager = new CertificateManager({
    ...{store, clock, random, logger},
    client: async () => server.client,
    purpose: () => {
      const names = servingNames(node());
      return names && servingPurpose(nodeName, names);
    },
    initial: serving.current?.certificate,
    onRotated: serving.replace,
    observer: options.observe?.('server'),
  });
  return {managers: [...managers, manager], issued, serving};
}

async function openClient({
  server: {client, credentials},
  bootstrap,
  nodeName,
  certDir,
  ...common
}: NodeCertificatesOptions): Promise<Pick<NodeCertificates, 'managers' | 'issued'>> {
  const store = clientCertificateStore(certDir);
  const initial = await openInitialCertificate(store, credentials, common);
  const purpose = clientPurpose(nodeName);
  let setIssued: () => void = () => undefined;
  const issued = new Promise<void>((resolve) => {
    setIssued = resolve;
  });
  const manager = new CertificateManager({
    ...common,
    store,
    client: async () =>
      bootstrap !== undefined && (await credentials.lacksCertificate()) ? bootstrap.client : client,
    purpose: () => purpose,
    initial,
    observer: common.observe?.('client'),
    onRotated: () => {
      credentials.reload();
      setIssued();
    },
  });
  if (!(await credentials.lacksCertificate())) setIssued();
  return {managers: [manager, new ClientCertificateWatch({...common, credentials, manager})], issued};
}

/**
 * Resolves with the client certificate in use; undefined if it must be replaced at once. One that is written in the kubeconfig
 * may have more rights than a node needs, so it is used, as the current one of the store, only until another one is issued
 * (getCurrentCertificateOrBootstrap).
 */
async function openInitialCertificate(
  store: CertificateStore,
  credentials: FileCredentials,
  {clock, logger}: Pick<NodeCertificatesOptions, 'clock' | 'logger'>,
): Promise<string | undefined> {
  const stored = await store.current();
  if (stored !== undefined && Date.parse(new X509Certificate(stored.certificate).validTo) > clock.now())
    return stored.certificate;
  const {embedded} = credentials;
  if (embedded === undefined)
    return stored === undefined ? (await credentials.current()).tls.cert : undefined;
  try {
    await store.update({certificate: embedded.cert, key: embedded.key}, clock.now());
  } catch (error) {
    logger
      .forFile('node-certificates.ts')
      .error(error, 'Failed to store the client certificate of the kubeconfig');
  }
  return undefined;
}
