import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {SILENT_LOGGER} from '../../../src/base/logger.js';
import {ApiClient} from '../../../src/kube-api/api-client.js';
import {HttpConnection} from '../../../src/kube-api/http-connection.js';
import {ApiAccessReviews} from '../../../src/kubelet/cluster/auth/api-access-reviews.js';
import {
  readKubeletConfig,
  toKubeletConfiguration,
} from '../../../src/kubelet/configuration/kubelet-config.js';
import {KubeletMetricsRegistry} from '../../../src/kubelet/managers/metrics/kubelet-metrics-registry.js';
import {startServers} from '../../../src/kubelet/server/start-servers.js';
import type {ClusterTestbed} from '../../kubelet/cluster/cluster-testbed.js';
import {createClientCertificate} from '../../kubelet/server/auth/client-certificate.js';
import {GOLDEN_NODE} from '../golden-cases.js';
import {requestKubelet, type ServerAnswer, type ServerRequest} from './kubelet-client.js';

const REVIEW_TTL_MS = 300_000;

/** The server of a kubelet that asks the API server for authorization, and a client with the API server's certificate. */
export interface KubeletServer extends AsyncDisposable {
  readonly send: (request: ServerRequest) => Promise<ServerAnswer>;
}

/** Starts the server of the testbed's kubelet. */
export async function startKubeletServer({api, daemon}: ClusterTestbed): Promise<KubeletServer> {
  const {clock, connection, directory, rootDir, logsDir} = daemon;
  const end = new AbortController();
  const clientCaFile = join(directory, 'client-ca.crt');
  const {certificate: cert, key} = createClientCertificate('kube-apiserver-kubelet-client', 'system:masters');
  await writeFile(clientCaFile, cert);
  const reviews = new HttpConnection(new URL(api.url), {
    current: async () => ({tls: {rejectUnauthorized: true}, token: undefined}),
  });
  const {urls, closed} = await startServers(
    daemon.view,
    {
      node: {...GOLDEN_NODE, rootDir, podLogsDir: logsDir},
      runtime: connection.runtime,
      images: connection.images,
      clock,
      logger: SILENT_LOGGER,
      metrics: new KubeletMetricsRegistry(clock, GOLDEN_NODE.nodeName),
      main: {address: '127.0.0.1', port: 0},
      certificate: {certDir: join(directory, 'pki'), names: ['127.0.0.1']},
      access: {
        anonymous: false,
        clientCaFile,
        accessReviews: new ApiAccessReviews({
          client: new ApiClient({connection: reviews, userAgent: 'kcri', clock}),
          tokenTtlMs: REVIEW_TTL_MS,
          authorizedTtlMs: REVIEW_TTL_MS,
          unauthorizedTtlMs: REVIEW_TTL_MS,
          clock,
          signal: end.signal,
        }),
      },
      debuggingHandlers: true,
      systemLogHandler: false,
      systemLogQuery: false,
      profilingHandler: true,
      systemLogDir: '/nonexistent',
      streamingIdleTimeoutMs: 0,
      syncFrequencyMs: 60_000,
      volumeStatsPeriodMs: 60_000,
      configuration: toKubeletConfiguration(readKubeletConfig([], new Map(), {joinsCluster: true}).values),
    },
    end.signal,
  );
  return {
    send: async (sent) => requestKubelet(urls.main ?? '', sent, {cert, key}),
    [Symbol.asyncDispose]: async () => {
      end.abort();
      await closed;
      reviews.close();
    },
  };
}
