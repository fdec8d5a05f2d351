import {dirname} from 'node:path';
import type {Clock, RandomSource} from '../../../base/clock.js';
import {ConfigError, messageOf} from '../../../base/errors.js';
import {writeFileAtomic} from '../../../base/fs/atomic-write.js';
import {pathExists} from '../../../base/fs/files.js';
import {makeDirectoryPath} from '../../../base/fs/make-directory-path.js';
import type {Logger} from '../../../base/logger.js';
import {formatYaml} from '../../../format/yaml.js';
import {openCredentials, readClusterAccess, type ApiServer} from '../../../kube-api/index.js';
import {openBootstrapRequest, removeBootstrapKey} from './bootstrap-key.js';
import {CertificateManager} from './certificate-manager.js';
import {clientPurpose} from './certificate-purpose.js';
import type {CertificateStore} from './certificate-store.js';

/** Options of {@link prepareKubeconfig}. */
export interface PrepareKubeconfigOptions {
  /** Kubeconfig that is written, unless it is usable. */
  readonly kubeconfig: string;
  readonly bootstrapKubeconfig: string;
  readonly store: CertificateStore;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Writes a kubeconfig that refers to the current certificate of the store, whether there is one or not, and resolves with
 * true, unless there is a usable kubeconfig (bootstrap.LoadClientConfig). Rejects with ConfigError for an invalid bootstrap
 * kubeconfig, with SystemError, and with the signal's reason.
 */
export async function prepareKubeconfig(
  options: PrepareKubeconfigOptions,
  signal: AbortSignal,
): Promise<boolean> {
  if (!(await needsBootstrap(options, signal))) return false;
  await writeKubeconfig(options, signal);
  return true;
}

/** Options of {@link bootstrapKubeconfig}. */
export interface BootstrapOptions extends PrepareKubeconfigOptions {
  readonly nodeName: string;
  /** Connects with the credentials of a kubeconfig. */
  readonly connect: (kubeconfig: string) => Promise<Pick<ApiServer, 'client'> & Disposable>;
  readonly random: RandomSource;
}

/**
 * Requests a client certificate with the credentials of the bootstrap kubeconfig and writes a kubeconfig that refers to
 * it, unless there is a usable kubeconfig (bootstrap.LoadClientCert). Tries until a certificate is issued. Rejects like
 * prepareKubeconfig.
 */
export async function bootstrapKubeconfig(options: BootstrapOptions, signal: AbortSignal): Promise<void> {
  if (!(await needsBootstrap(options, signal))) return;
  const {store, nodeName, connect} = options;
  using server = await connect(options.bootstrapKubeconfig);
  const purpose = clientPurpose(nodeName);
  const manager = new CertificateManager({
    ...options,
    client: async () => server.client,
    purpose: () => purpose,
    reused: await openBootstrapRequest(purpose, store),
    onRotated: () => undefined,
  });
  await manager.rotate(signal);
  await removeBootstrapKey(store);
  await writeKubeconfig(options, signal);
}

async function needsBootstrap(
  {kubeconfig, bootstrapKubeconfig: bootstrap, clock, ...options}: PrepareKubeconfigOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const logger = options.logger.forFile('bootstrap-kubeconfig.ts');
  const problem = await findProblem(kubeconfig, clock, signal);
  if (problem === undefined) {
    logger.info('Kubeconfig exists and is valid, skipping bootstrap', {path: kubeconfig}, 2);
    return false;
  }
  if (!(await pathExists(bootstrap)))
    throw new ConfigError(`${messageOf(problem)}, and bootstrap kubeconfig "${bootstrap}" does not exist`, {
      cause: problem,
      hint: 'provide a valid --kubeconfig, or set --bootstrap-kubeconfig to a kubeconfig with a bootstrap token',
    });
  if (problem instanceof ConfigError) logger.error(problem, 'Kubeconfig cannot be used, bootstrapping again');
  logger.info('Using bootstrap kubeconfig to generate TLS client cert, key and kubeconfig file', {}, 2);
  return true;
}

async function writeKubeconfig(
  {kubeconfig, bootstrapKubeconfig: bootstrap, store}: PrepareKubeconfigOptions,
  signal: AbortSignal,
): Promise<void> {
  const text = await formatKubeconfig(bootstrap, store.currentPath, signal);
  await makeDirectoryPath(dirname(kubeconfig), 0o755);
  await writeFileAtomic(kubeconfig, text, 0o600);
}

/** Resolves with the reason why a kubeconfig cannot be used; undefined if it can (isClientConfigStillValid). */
async function findProblem(file: string, clock: Clock, signal: AbortSignal): Promise<Error | undefined> {
  if (!(await pathExists(file))) return new Error(`kubeconfig "${file}" does not exist`);
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
  return formatYaml(config);
}
