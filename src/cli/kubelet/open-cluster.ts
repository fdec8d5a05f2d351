import {systemRandom} from '../../base/clock.js';
import type {Logger} from '../../base/logger.js';
import type {Connection} from '../../cri/index.js';
import {
  durationToMs,
  type ConfigValues,
  type NodeAndRuntime,
  type ServerAccess,
} from '../../kubelet/index.js';
import type {ApiServer, JoinedCluster} from '../../kubelet/cluster/index.js';
import type {CliContext} from '../context.js';
import {programVersion} from '../program-version.js';
import {computeMaxPods} from './kubelet-options.js';

/** Inputs of {@link openApiServer}. */
export interface OpenApiServerOptions {
  readonly kubeconfig: string | undefined;
  readonly config: ConfigValues;
  readonly context: Pick<CliContext, 'clock' | 'signal'>;
}

/**
 * Reads the kubeconfig, if there is one, and its credentials; connects with the first request. Rejects with ConfigError for
 * an invalid kubeconfig.
 */
export async function openApiServer({
  kubeconfig,
  config,
  context: {clock, signal},
}: OpenApiServerOptions): Promise<ApiServer | undefined> {
  if (kubeconfig === undefined) return undefined;
  const {connectApiServer} = await import('../../kubelet/cluster/index.js');
  return await connectApiServer({
    kubeconfig,
    qps: config.kubeAPIQPS,
    burst: config.kubeAPIBurst,
    eventQps: config.eventRecordQPS,
    eventBurst: config.eventBurst,
    userAgent: `kcri/${programVersion()} (linux)`,
    clock,
    signal,
  });
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
  readonly context: Pick<CliContext, 'clock'>;
  readonly logger: Logger;
}

/** Returns the cluster of the API server, which the kubelet joins when it starts. Nothing is sent yet. */
export async function openCluster(
  server: ApiServer,
  {config, connection, node, context, logger}: OpenClusterOptions,
): Promise<JoinedCluster> {
  const {joinCluster} = await import('../../kubelet/cluster/index.js');
  return joinCluster({
    server,
    services: connection,
    node: node.node,
    settings: {
      maxPods: computeMaxPods(node, config),
      port: config.port,
      providerId: config.providerID,
      registerWithTaints: config.registerWithTaints,
      maxImages: config.nodeStatusMaxImages,
    },
    registerNode: config.registerNode,
    kcriVersion: programVersion(),
    updateFrequencyMs: durationToMs(config.nodeStatusUpdateFrequency),
    reportFrequencyMs: durationToMs(config.nodeStatusReportFrequency),
    leaseDurationSeconds: config.nodeLeaseDurationSeconds,
    clock: context.clock,
    random: systemRandom,
    logger,
  });
}
