import type {Clock, RandomSource} from '../../../base/clock.js';
import type {Logger} from '../../../base/logger.js';
import type {ApiServer} from '../../../kube-api/index.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import {CertificateManager} from './certificate-manager.js';
import {CertificateStore} from './certificate-store.js';
import {clientPurpose, servingPurpose} from './request-certificate.js';
import {RotatedCertificate} from './rotated-certificate.js';

/** Returns the store of the node's client certificates in the certificate directory. */
export function clientCertificateStore(certDir: string): CertificateStore {
  return new CertificateStore(certDir, 'kubelet-client');
}

/** Options of {@link openNodeCertificates}. */
export interface NodeCertificatesOptions {
  readonly server: Pick<ApiServer, 'client' | 'credentials'>;
  readonly node: Pick<NodeFacts, 'nodeName' | 'hostIps'>;
  readonly certDir: string;
  /** True to replace the client certificate before it expires (rotateCertificates). */
  readonly rotatesClient: boolean;
  /** True to request a serving certificate (serverTLSBootstrap). */
  readonly requestsServing: boolean;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
}

/** Certificates of the node that a control plane issues. */
export interface NodeCertificates {
  /** Managers to run as long as the kubelet runs. */
  readonly managers: readonly CertificateManager[];
  readonly serving: RotatedCertificate | undefined;
}

/** Returns the managers of the node's certificates, as configured. Rejects with ConfigError for unusable files. */
export async function openNodeCertificates({
  server: {client, credentials},
  node: {nodeName, hostIps},
  certDir,
  rotatesClient,
  requestsServing,
  ...common
}: NodeCertificatesOptions): Promise<NodeCertificates> {
  const managers: CertificateManager[] = [];
  if (rotatesClient) {
    const initial = (await credentials.current()).tls.cert;
    const onRotated = (): void => {
      credentials.reload();
    };
    const store = clientCertificateStore(certDir);
    const purpose = clientPurpose(nodeName);
    managers.push(new CertificateManager({...common, client, purpose, store, initial, onRotated}));
  }
  if (!requestsServing) return {managers, serving: undefined};
  const store = new CertificateStore(certDir, 'kubelet-server');
  const serving = new RotatedCertificate(await store.current());
  const purpose = servingPurpose(nodeName, [nodeName, ...hostIps.current]);
  managers.push(new CertificateManager({...common, client, purpose, store, onRotated: serving.replace}));
  return {managers, serving};
}
