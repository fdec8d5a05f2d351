import {systemRandom} from '../../base/clock.js';
import type {Logger} from '../../base/logger.js';
import type {Connection} from '../../cri/index.js';
import {
  durationToMs,
  type ConfigValues,
  type NodeAndRuntime,
  type ServerAccess,
} from '../../kubelet/index.js';
import type {
  ApiServer,
  ChangeDetectionStrategy,
  ConnectApiServerOptions,
  JoinedCluster,
  NodeCertificates,
} from '../../kubelet/cluster/index.js';
import type {CliContext} from '../context.js';
import {programVersion} from '../program-version.js';
import type {KubeconfigFlags} from './kubelet-flags.js';
import {createNodeSettings} from './kubelet-options.js';

/** Inputs of {@link openApiServer}. */
export interface OpenApiServerOptions extends Pick<KubeconfigFlags, 'kubeconfig'> {
  readonly config: ConfigValues;
  /** Directory of rotated client certificates; undefined to leave them out of account. */
  readonly certDir?: string;
  readonly context: Pick<CliContext, 'clock' | 'env' | 'signal'>;
}

/**
 * Reads the kubeconfig, if there is one, and its credentials; connects with the first request. Rejects with ConfigError for
 * an invalid kubeconfig.
 */
export async function openApiServer({
  kubeconfig,
  ...options
}: OpenApiServerOptions): Promise<ApiServer | undefined> {
  return kubeconfig === undefined ? undefined : await connectKubeconfig({...options, kubeconfig});
}

/** Opens the API server of a kubeconfig, like openApiServer. */
export async function connectKubeconfig({
  kubeconfig,
  config,
  certDir,
  context,
}: OpenApiServerOptions & {readonly kubeconfig: string}): Promise<ApiServer> {
  const {clientCertificateStore, connectApiServer} = await import('../../kubelet/cluster/index.js');
  const isRotated = config.rotateCertificates && certDir !== undefined;
  return await connectApiServer({
    kubeconfig,
    rotatedFile: isRotated ? clientCertificateStore(certDir).currentPath : undefined,
    ...connectOptions(config, context),
  });
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

/** Inputs of {@link bootstrapNode}. */
export interface BootstrapNodeOptions extends KubeconfigFlags, OpenApiServerOptions {
  readonly nodeName: string;
  readonly certDir: string;
  readonly logger: Logger;
}

/** Obtains the kubeconfig with the bootstrap kubeconfig, if there is one; see bootstrapKubeconfig for the errors. */
export async function bootstrapNode(options: BootstrapNodeOptions): Promise<void> {
  const {kubeconfig, bootstrapKubeconfig: bootstrap, nodeName, certDir, config, context, logger} = options;
  if (kubeconfig === undefined || bootstrap === undefined) return;
  const {bootstrapKubeconfig, clientCertificateStore, connectApiServer} =
    await import('../../kubelet/cluster/index.js');
  await bootstrapKubeconfig(
    {
      kubeconfig,
      bootstrapKubeconfig: bootstrap,
      store: clientCertificateStore(certDir),
      nodeName,
      connect: async (file) => await connectApiServer({...connectOptions(config, context), kubeconfig: file}),
      clock: context.clock,
      random: systemRandom,
      logger,
    },
    context.signal,
  );
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
  server: ApiServer,
  {config, connection, node, externalCloudProvider, certDir, context, logger}: OpenClusterOptions,
): Promise<OpenedCluster> {
  const {joinCluster, openNodeCertificates} = await import('../../kubelet/cluster/index.js');
  const {managers, serving} = await openNodeCertificates({
    server,
    node: node.node,
    certDir,
    rotatesClient: config.rotateCertificates,
    requestsServing: config.serverTLSBootstrap,
    clock: context.clock,
    random: systemRandom,
    logger,
  });
  const cluster = joinCluster({
    server,
    certificates: managers,
    services: connection,
    node: node.node,
    settings: createNodeSettings(node, config, externalCloudProvider),
    registerNode: config.registerNode,
    kcriVersion: programVersion(),
    updateFrequencyMs: durationToMs(config.nodeStatusUpdateFrequency),
    reportFrequencyMs: durationToMs(config.nodeStatusReportFrequency),
    leaseDurationSeconds: config.nodeLeaseDurationSeconds,
    // The configuration allows no other values.
    changeDetection: config.configMapAndSecretChangeDetectionStrategy as ChangeDetectionStrategy,
    syncFrequencyMs: durationToMs(config.syncFrequency),
    clock: context.clock,
    random: systemRandom,
    logger,
  });
  return {cluster, servingCertificate: serving};
}
