import type {RandomSource} from '../../../src/base/clock.js';
import {ApiClient} from '../../../src/kube-api/api-client.js';
import {HttpConnection} from '../../../src/kube-api/http-connection.js';
import type {ChangeDetectionStrategy} from '../../../src/kubelet/cluster/objects/change-detection.js';
import {joinCluster, type JoinClusterOptions} from '../../../src/kubelet/cluster/join-cluster.js';
import type {JoinedCluster} from '../../../src/kubelet/cluster/index.js';
import type {NodeSettings} from '../../../src/kubelet/contract/cluster/node-settings.js';
import type {JoinParts} from '../daemon/daemon-testbed.js';
import {CLUSTER_DEFAULTS} from './cluster-defaults.js';

/** Options to join a cluster. */
export interface JoinFakeClusterOptions {
  readonly changeDetection?: ChangeDetectionStrategy;
  /** Certificates of the API server, which the kubelet trusts. */
  readonly ca?: string;
  readonly random?: RandomSource;
  /** Settings of the kubelet that differ from CLUSTER_DEFAULTS. */
  readonly settings?: Partial<NodeSettings>;
  readonly reportFrequencyMs?: number;
  /** Returns the managers of the node's certificates; none by default. */
  readonly certificates?: (
    parts: JoinParts & {readonly client: ApiClient},
  ) => JoinClusterOptions['certificates'];
}

/** Joins a kubelet to the cluster of the API server at this URL. */
export function joinFakeCluster(
  server: URL,
  parts: JoinParts,
  options: JoinFakeClusterOptions = {},
): JoinedCluster {
  const {ca, random = () => 0, changeDetection = 'Watch'} = options;
  const credentials = {
    tls: {rejectUnauthorized: true, ...(ca !== undefined && {ca})},
    token: undefined,
  };
  const {clock} = parts;
  const connection = new HttpConnection(server, {current: async () => credentials}, {clock});
  const client = new ApiClient({connection, userAgent: 'kcri', clock});
  return joinCluster({
    server: {url: server.href.replace(/\/$/, ''), client, events: client, heartbeats: client},
    ...parts,
    ...CLUSTER_DEFAULTS,
    settings: {...CLUSTER_DEFAULTS.settings, ...options.settings},
    ...(options.reportFrequencyMs !== undefined && {reportFrequencyMs: options.reportFrequencyMs}),
    ...(options.certificates && {certificates: options.certificates({...parts, client})}),
    changeDetection,
    random,
  });
}
