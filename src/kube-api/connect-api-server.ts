import {TokenBucket} from '../base/async/token-bucket.js';
import type {Clock} from '../base/clock.js';
import {ConfigError} from '../base/errors.js';
import {readTextFile} from '../base/fs/read-text-file.js';
import {systemErrorMessage} from '../base/system-error-message.js';
import {ApiClient} from './api-client.js';
import {HttpConnection} from './http-connection.js';
import {openCredentials} from './kubeconfig/credentials.js';
import {parseKubeconfig} from './kubeconfig/parse-kubeconfig.js';

/** Options of {@link connectApiServer}. */
export interface ConnectApiServerOptions {
  /** Path of the kubeconfig. */
  readonly kubeconfig: string;
  /** Limit of requests per second; 0 for none (kubeAPIQPS). */
  readonly qps: number;
  /** Number of requests that may exceed the rate at once (kubeAPIBurst). */
  readonly burst: number;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Connection to an API server. */
export interface ApiServer extends Disposable {
  /** URL of the server, for messages. */
  readonly url: string;
  readonly client: ApiClient;
  /** Client without a limit of its rate, for the node's status and lease, which must not wait for other requests. */
  readonly heartbeats: ApiClient;
}

const MAX_KUBECONFIG_BYTES = 1024 * 1024;

/** Reads the kubeconfig and its credentials; connects with the first request. Rejects with ConfigError. */
export async function connectApiServer({
  kubeconfig: file,
  qps,
  burst,
  userAgent,
  clock,
  signal,
}: ConnectApiServerOptions): Promise<ApiServer> {
  const access = parseKubeconfig(await readKubeconfig(file, signal), file);
  const credentials = await openCredentials(access, {file, clock});
  const connection = new HttpConnection(access.server, credentials);
  const limiter = qps > 0 ? new TokenBucket({perSecond: qps, burst: Math.max(burst, 1)}, clock) : undefined;
  return {
    url: access.server.href.replace(/\/$/, ''),
    client: new ApiClient({connection, userAgent, clock, ...(limiter && {limiter})}),
    heartbeats: new ApiClient({connection, userAgent, clock}),
    [Symbol.dispose]: () => {
      connection.close();
    },
  };
}

async function readKubeconfig(file: string, signal: AbortSignal): Promise<string> {
  try {
    return await readTextFile(file, MAX_KUBECONFIG_BYTES, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw new ConfigError(`cannot read kubeconfig "${file}": ${systemErrorMessage(error)}`, {
      cause: error,
      hint: 'set --kubeconfig to a file with a cluster, a user and a context for this node',
    });
  }
}
