import {dirname} from 'node:path';
import type {Clock} from '../../../base/clock.js';
import {ConfigError} from '../../../base/errors.js';
import {writeFileAtomic} from '../../../base/fs/atomic-write.js';
import {pathExists} from '../../../base/fs/files.js';
import {makeDirectoryPath} from '../../../base/fs/make-directory-path.js';
import type {Logger} from '../../../base/logger.js';
import {openCredentials, readClusterAccess, type ApiServer} from '../../../kube-api/index.js';
import {CertificateManager, type CertificateManagerOptions} from './certificate-manager.js';
import type {CertificateStore} from './certificate-store.js';
import {clientPurpose} from './request-certificate.js';

/** Options of {@link bootstrapKubeconfig}. */
export interface BootstrapOptions extends Pick<CertificateManagerOptions, 'random'> {
  /** Kubeconfig that is written, unless it is usable. */
  readonly kubeconfig: string;
  readonly bootstrapKubeconfig: string;
  readonly store: CertificateStore;
  readonly nodeName: string;
  /** Connects with the credentials of a kubeconfig. */
  readonly connect: (kubeconfig: string) => Promise<Pick<ApiServer, 'client'> & Disposable>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Requests a client certificate with the credentials of the bootstrap kubeconfig and writes a kubeconfig that refers to
 * it, unless there is a usable kubeconfig (bootstrap.LoadClientCert). Tries until a certificate is issued. Rejects with
 * ConfigError for an invalid bootstrap kubeconfig, with SystemError, and with the signal's reason.
 */
export async function bootstrapKubeconfig(options: BootstrapOptions, signal: AbortSignal): Promise<void> {
  const {kubeconfig, store, nodeName, connect, clock} = options;
  const logger = options.logger.forFile('bootstrap-kubeconfig.ts');
  const problem = await findProblem(kubeconfig, clock, signal);
  if (problem === undefined) {
    logger.info('Kubeconfig exists and is valid, skipping bootstrap', {path: kubeconfig}, 2);
    return;
  }
  if (problem instanceof ConfigError) logger.error(problem, 'Kubeconfig cannot be used, bootstrapping again');
  const {bootstrapKubeconfig: bootstrap} = options;
  using server = await connect(bootstrap);
  logger.info('Using bootstrap kubeconfig to generate TLS client cert, key and kubeconfig file', {}, 2);
  const manager = new CertificateManager({
    ...options,
    client: server.client,
    purpose: clientPurpose(nodeName),
    onRotated: () => undefined,
  });
  await manager.rotate(signal);
  await makeDirectoryPath(dirname(kubeconfig), 0o755);
  await writeFileAtomic(kubeconfig, await formatKubeconfig(bootstrap, store.currentPath, signal), 0o600);
}

/** Resolves with the reason why a kubeconfig cannot be used; undefined if it can (isClientConfigStillValid). */
async function findProblem(
  file: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<ConfigError | 'missing' | undefined> {
  if (!(await pathExists(file))) return 'missing';
  try {
    const access = await readClusterAccess(file, signal);
    await openCredentials(access, {file, clock});
    if (access.clientCertificate !== undefined) return undefined;
    return new ConfigError(`kubeconfig "${file}" has no client certificate`);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}

/** Returns a kubeconfig for the cluster of another one, with the client certificate of a file. */
async function formatKubeconfig(source: string, pemPath: string, signal: AbortSignal): Promise<string> {
  const {server, tlsServerName, verifiesServer, certificateAuthority, proxy} = await readClusterAccess(
    source,
    signal,
  );
  const authority =
    certificateAuthority?.kind === 'inline'
      ? {'certificate-authority-data': Buffer.from(certificateAuthority.text).toString('base64')}
      : certificateAuthority && {'certificate-authority': certificateAuthority.path};
  const cluster = {
    server: server.href.replace(/\/$/, ''),
    ...authority,
    ...(tlsServerName !== undefined && {'tls-server-name': tlsServerName}),
    ...(!verifiesServer && {'insecure-skip-tls-verify': true}),
    ...(proxy !== undefined && {'proxy-url': proxy.href}),
  };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{name: 'default-cluster', cluster}],
    users: [{name: 'default-auth', user: {'client-certificate': pemPath, 'client-key': pemPath}}],
    contexts: [
      {
        name: 'default-context',
        context: {cluster: 'default-cluster', user: 'default-auth', namespace: 'default'},
      },
    ],
    'current-context': 'default-context',
  };
  return `${JSON.stringify(config, undefined, 2)}\n`; // JSON is YAML
}
