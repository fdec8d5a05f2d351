import {request} from 'node:https';
import type {Kubelet} from '../../../src/kubelet/daemon/kubelet.js';
import {KubeletMetricsRegistry} from '../../../src/kubelet/managers/metrics/kubelet-metrics-registry.js';
import {startServers} from '../../../src/kubelet/server/start-servers.js';
import {SILENT_LOGGER} from '../../../src/base/logger.js';
import type {PodDriverOptions} from './pod-driver.js';

/** A kubelet's HTTPS server without authorization. */
export interface KubeletApiServer extends AsyncDisposable {
  readonly url: string;
}

/** Starts a server, to be disposed of. */
export async function serveKubeletApi(
  kubelet: Kubelet,
  {connection, node, clock}: PodDriverOptions,
  address: string,
): Promise<KubeletApiServer> {
  const end = new AbortController();
  const {urls, closed} = await startServers(
    kubelet.view,
    {
      node,
      runtime: connection.runtime,
      images: connection.images,
      clock,
      logger: SILENT_LOGGER,
      metrics: new KubeletMetricsRegistry(clock, node.nodeName),
      main: {address, port: 0},
      certificate: {certDir: `${node.rootDir}/pki`, names: [address]},
      access: {anonymous: true},
      debuggingHandlers: true,
      systemLogHandler: false,
      systemLogQuery: false,
      profilingHandler: true,
      systemLogDir: '/nonexistent',
      streamingIdleTimeoutMs: 0,
      syncFrequencyMs: 60_000,
      volumeStatsPeriodMs: 60_000,
      configuration: {},
    },
    end.signal,
  );
  return {
    url: urls.main ?? '',
    [Symbol.asyncDispose]: async () => {
      end.abort();
      await closed;
    },
  };
}

/**
 * Sends the request of a recorded `curl -X METHOD -H 'NAME: VALUE' … $API/PATH | …`. Resolves with the status of the
 * response.
 */
export async function runCurlCommand(command: string, api: string): Promise<number> {
  const [, method = 'GET'] = /-X (\w+)/.exec(command) ?? [];
  const headers = Object.fromEntries(
    [...command.matchAll(/-H '([^:']+): ([^']+)'/g)].map(([, name = '', value = '']) => [name, value]),
  );
  const [, path = ''] = /\$API([^\s"]+)/.exec(command) ?? [];
  return await new Promise((resolve, reject) => {
    const apiRequest = request(`${api}${path}`, {method, headers, rejectUnauthorized: false});
    const done = (status = 0): void => {
      resolve(status);
      apiRequest.destroy();
    };
    apiRequest.on('response', (response) => {
      response.resume().on('end', () => {
        done(response.statusCode);
      });
    });
    apiRequest.on('upgrade', (response) => {
      done(response.statusCode);
    });
    apiRequest.on('error', reject);
    apiRequest.end();
  });
}
