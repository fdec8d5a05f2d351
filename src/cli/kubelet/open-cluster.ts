import {systemRandom} from '../../base/clock.js';
import type {Logger} from '../../base/logger.js';
import type {Connection} from '../../cri/index.js';
import {durationToMs, type ConfigValues, type NodeAndRuntime} from '../../kubelet/index.js';
import type {JoinedCluster} from '../../kubelet/cluster/index.js';
import type {CliContext} from '../context.js';
import {programVersion} from '../program-version.js';
import {computeMaxPods} from './kubelet-options.js';

/** Inputs of {@link openCluster}. */
export interface OpenClusterOptions {
  readonly kubeconfig: string | undefined;
  readonly config: ConfigValues;
  readonly connection: Connection;
  readonly node: NodeAndRuntime;
  readonly context: CliContext;
  readonly logger: Logger;
}

/** A cluster to join, and its connections. */
export interface OpenedCluster extends Disposable {
  readonly link: JoinedCluster;
}

/**
 * Opens the cluster of the kubeconfig, if there is one. Nothing is sent yet. Rejects with ConfigError for an invalid
 * kubeconfig.
 */
export async function openCluster({
  kubeconfig,
  config,
  connection,
  node,
  context,
  logger,
}: OpenClusterOptions): Promise<OpenedCluster | undefined> {
  if (kubeconfig === undefined) return undefined;
  const {connectApiServer, joinCluster} = await import('../../kubelet/cluster/index.js');
  const {clock, signal} = context;
  const kcriVersion = programVersion();
  const server = await connectApiServer({
    kubeconfig,
    qps: config.kubeAPIQPS,
    burst: config.kubeAPIBurst,
    eventQps: config.eventRecordQPS,
    eventBurst: config.eventBurst,
    userAgent: `kcri/${kcriVersion} (linux)`,
    clock,
    signal,
  });
  const link = joinCluster({
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
    kcriVersion,
    updateFrequencyMs: durationToMs(config.nodeStatusUpdateFrequency),
    reportFrequencyMs: durationToMs(config.nodeStatusReportFrequency),
    leaseDurationSeconds: config.nodeLeaseDurationSeconds,
    clock,
    random: systemRandom,
    logger,
  });
  return {
    link,
    [Symbol.dispose]: () => {
      server[Symbol.dispose]();
    },
  };
}
