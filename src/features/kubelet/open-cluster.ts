import {systemRandom} from '../../base/clock.js';
import type {Logger} from '../../base/logger.js';
import type {Connection} from '../../cri/index.js';
import {
  durationToMs,
  periodToMs,
  type ConfigValues,
  type NodeAndRuntime,
  type ObserveCertificate,
  type ServerAccess,
} from '../../kubelet/index.js';
import type {
  ApiServer,
  ChangeDetectionStrategy,
  ConnectApiServerOptions,
  JoinedCluster,
  NodeCertificates,
} from '../../kubelet/cluster/index.js';
import type {CliContext} from '../../cli/process/context.js';
import {programVersion} from '../../cli/process/program-version.js';
import type {KubeconfigFlags} from './kubelet-flags.js';
import {createNodeSettings} from './kubelet-options.js';

/** Inputs of {@link openApiServer}. */
export interface OpenApiServerOptions {
  readonly kubeconfig: string;
  readonly config: ConfigValues;
  readonly context: Pick<CliContext, 'clock' | 'env' | 'signal'>;
  /** Creates the observer of requests to a host; none by default. */
  readonly observe?: ConnectApiServerOptions['observe'];
  readonly trace?: ConnectApiServerOptions['trace'];
}

/**
 * Reads the kubeconfig and its credentials; connects with the first request. Rejects with ConfigError for an invalid
 * kubeconfig.
 */
export async function openApiServer({kubeconfig, config, context}: OpenApiServerOptions): Promise<ApiServer> {
  const {connectApiServer} = await import('../../kubelet/cluster/index.js');
  return await connectApiServer({kubeconfig, ...connectOptions(config, context)});
}

function connectOptions(
  config: ConfigValues,
  {clock, env, signal}: OpenApiServerOptions['context'],
): Omit<ConnectApiServerOptions, 'kubeconfig'> {
  return {
    qps: config.kubeAPIQPS,
    burst: config.kubeAPIBurst,
    eventQps: config.eventRecordQPS,
    eventBurst: config.eventBurst,
    userAgent: `kcri/${programVersion()} (linux)`,
    env,
    clock,
    signal,
  };
}

/** Inputs of {@link openNodeApi}. */
export interface OpenNodeApiOptions extends KubeconfigFlags, Omit<OpenApiServerOptions, 'kubeconfig'> {
  readonly nodeName: string;
  /** Directory of the client certificates. */
  readonly certDir: string;
  readonly logger: Logger;
}

/** API server of a node. */
export interface NodeApi extends Disposable {
  readonly server: ApiServer;
  /** The same server with the credentials of the bootstrap kubeconfig, while the node has no certificate. */
  readonly bootstrap: ApiServer | undefined;
}

/**
 * Opens the API server of the kubeconfig, if there is one. Writes the kubeconfig if there is a bootstrap kubeconfig and it is
 * needed: at once if certificates are rotated, or else when a certificate is issued. Rejects with ConfigError for invalid
 * kubeconfigs and certificates.
 */
export async function openNodeApi(options: OpenNodeApiOptions): Promise<NodeApi | undefined> {
  const {kubeconfig, bootstrapKubeconfig: bootstrap, certDir, config, context} = options;
  if (kubeconfig === undefined) return undefined;
  const cluster = await import('../../kubelet/cluster/index.js');
  const store = cluster.clientCertificateStore(certDir);
  type Rotation = Pick<ConnectApiServerOptions, 'rotatedFile' | 'isBootstrapping'>;
  const connect = async (file: string, rotation: Rotation = {}): Promise<ApiServer> =>
    await cluster.connectApiServer({
      ...{kubeconfig: file, ...rotation, ...connectOptions(config, context)},
      observe: options.observe,
      trace: options.trace,
    });
  const preparation = bootstrap !== undefined && {
    ...{kubeconfig, bootstrapKubeconfig: bootstrap, store, connect},
    ...{nodeName: options.nodeName, clock: context.clock, random: systemRandom, logger: options.logger},
  };
  if (!config.rotateCertificates) {
    if (preparation) await cluster.bootstrapKubeconfig(preparation, context.signal);
    return nodeApi(await connect(kubeconfig), undefined);
  }
  const isBootstrapping = preparation && (await cluster.prepareKubeconfig(preparation, context.signal));
  const server = await connect(kubeconfig, {rotatedFile: store.currentPath, isBootstrapping});
  return nodeApi(server, isBootstrapping ? await connect(bootstrap) : undefined);
}

function nodeApi(server: ApiServer, bootstrap: ApiServer | undefined): NodeApi {
  return {
    server,
    bootstrap,
    [Symbol.dispose]: () => {
      server[Symbol.dispose]();
      bootstrap?.[Symbol.dispose]();
    },
  };
}

/** Returns the reviews of requests to the kubelet's server by the API server, as far as the configuration wants them. */
export async function openAccessReviews(
  {reviews: client}: ApiServer,
  config: ConfigValues,
  {clock, signal}: Pick<CliContext, 'clock' | 'signal'>,
): Promise<Pick<ServerAccess, 'tokenReviews' | 'accessReviews'>> {
  const {ApiAccessReviews} = await import('../../kubelet/cluster/index.js');
  const reviews = new ApiAccessReviews({
    client,
    tokenTtlMs: durationToMs(config['authentication.webhook.cacheTTL']),
    authorizedTtlMs: durationToMs(config['authorization.webhook.cacheAuthorizedTTL']),
    unauthorizedTtlMs: durationToMs(config['authorization.webhook.cacheUnauthorizedTTL']),
    clock,
    signal,
  });
  return {
    tokenReviews: config['authentication.webhook.enabled'] ? reviews : undefined,
    accessReviews: config['authorization.mode'] === 'Webhook' ? reviews : undefined,
  };
}

/** Inputs of {@link openCluster}. */
export interface OpenClusterOptions {
  readonly config: ConfigValues;
  readonly connection: Connection;
  readonly node: NodeAndRuntime;
  readonly externalCloudProvider: boolean;
  readonly certDir: string;
  readonly observeCertificate?: ObserveCertificate;
  readonly context: Pick<CliContext, 'clock'>;
  readonly logger: Logger;
}

/** A cluster to join, and the serving certificate that it issues, if the configuration wants that. */
interface OpenedCluster {
  readonly cluster: JoinedCluster;
  readonly servingCertificate: NodeCertificates['serving'];
}

/**
 * Returns the cluster of the API server, which the kubelet joins when it starts. Nothing is sent yet. Rejects with
 * ConfigError for unusable certificates.
 */
export async function openCluster(
  {server, bootstrap}: NodeApi,
  {config, connection, node, externalCloudProvider, certDir, context, logger, ...options}: OpenClusterOptions,
): Promise<OpenedCluster> {
  const {joinCluster, openNodeCertificates} = await import('../../kubelet/cluster/index.js');
  const joined: {cluster?: JoinedCluster} = {};
  const certificates = await openNodeCertificates({
    server,
    bootstrap,
    nodeName: node.node.nodeName,
    node: () => joined.cluster?.node(),
    certDir,
    rotatesClient: config.rotateCertificates,
    requestsServing: config.serverTLSBootstrap,
    observe: options.observeCertificate,
    clock: context.clock,
    random: systemRandom,
    logger,
  });
  const cluster = joinCluster({
    server,
    certificates,
    services: connection,
    node: node.node,
    settings: createNodeSettings(node, config, externalCloudProvider),
    registerNode: config.registerNode,
    kcriVersion: programVersion(),
    updateFrequencyMs: periodToMs(config.nodeStatusUpdateFrequency),
    reportFrequencyMs: periodToMs(config.nodeStatusReportFrequency),
    leaseDurationSeconds: config.nodeLeaseDurationSeconds,
    // The configuration allows no other values.
    changeDetection: config.configMapAndSecretChangeDetectionStrategy as ChangeDetectionStrategy,
    syncFrequencyMs: periodToMs(config.syncFrequency),
    clock: context.clock,
    random: systemRandom,
    logger,
  });
  joined.cluster = cluster;
  return {cluster, servingCertificate: certificates.serving};
}
