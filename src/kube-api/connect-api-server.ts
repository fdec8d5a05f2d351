import {TokenBucket} from '../base/async/token-bucket.js';
import type {Clock} from '../base/clock.js';
import {ConfigError} from '../base/errors.js';
import {findProxyVariable} from '../base/net/proxy-variable.js';
import {readTextFile} from '../base/fs/read-text-file.js';
import {systemErrorMessage} from '../base/system-error-message.js';
import {ApiClient} from './api-client.js';
import {HttpConnection} from './http-connection.js';
import type {RequestObserver} from './request-observer.js';
import {openCredentials, type FileCredentials} from './kubeconfig/credentials.js';
import {isSupportedProxy, parseKubeconfig, type ClusterAccess} from './kubeconfig/parse-kubeconfig.js';
import {traceConnection, type TraceApiRequest} from './traced-connection.js';
import {hostPortOf} from './transport/open-socket.js';

/** Options of {@link connectApiServer}. */
export interface ConnectApiServerOptions {
  /** Path of the kubeconfig. */
  readonly kubeconfig: string;
  /** This and the next field: see OpenCredentialsOptions. */
  readonly rotatedFile?: string | undefined;
  readonly isBootstrapping?: boolean;
  /** Limit of requests per second; 0 for none (kubeAPIQPS). */
  readonly qps: number;
  /** Number of requests that may exceed the rate at once (kubeAPIBurst). */
  readonly burst: number;
  /** The same limits for events (eventRecordQPS, eventBurst). */
  readonly eventQps: number;
  readonly eventBurst: number;
  readonly userAgent: string;
  /** Environment with the proxy variables, for a kubeconfig without a proxy; they are not used by default. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Creates the observer of requests to a host, `name:port` as in the URL; none by default. */
  readonly observe?: ((host: string) => RequestObserver) | undefined;
  /** Traces requests; by default they are not traced. */
  readonly trace?: TraceApiRequest | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Connection to an API server. */
export interface ApiServer extends Disposable {
  /** URL of the server, for messages. */
  readonly url: string;
  readonly client: ApiClient;
  /** Client for events, which have a limit of their own. */
  readonly events: ApiClient;
  /** Client for reviews, which peers of the kubelet's server cause; it has a limit of its own. */
  readonly reviews: ApiClient;
  /** Client without a limit of its rate, for the node's status and lease, which must not wait for other requests. */
  readonly heartbeats: ApiClient;
  readonly credentials: FileCredentials;
}

const MAX_KUBECONFIG_BYTES = 1024 * 1024;

/** Reads the kubeconfig and its credentials; connects with the first request. Rejects with ConfigError. */
export async function connectApiServer({
  kubeconfig: file,
  rotatedFile,
  isBootstrapping,
  qps,
  burst,
  eventQps,
  eventBurst,
  userAgent,
  env = {},
  observe,
  trace,
  clock,
  signal,
}: ConnectApiServerOptions): Promise<ApiServer> {
  const access = await readClusterAccess(file, signal);
  const proxy = access.proxy ?? proxyFromEnvironment(access.server, env);
  const credentials = await openCredentials(access, {file, rotatedFile, isBootstrapping, clock});
  const connection = new HttpConnection(access.server, credentials, {proxy, clock});
  const observer = observe?.(access.server.host);
  const traced = trace === undefined ? connection : traceConnection(connection, access.server, trace);
  const common = {connection: traced, userAgent, clock, ...(observer && {observer})};
  const createClient = (perSecond: number, most: number): ApiClient => {
    const limiter = new TokenBucket({perSecond, burst: Math.max(most, 1)}, clock);
    return new ApiClient({...common, ...(perSecond > 0 && {limiter})});
  };
  return {
    url: access.server.href.replace(/\/$/, ''),
    client: createClient(qps, burst),
    reviews: createClient(qps, burst),
    events: createClient(eventQps, eventBurst),
    heartbeats: new ApiClient(common),
    credentials,
    [Symbol.dispose]: () => {
      connection.close();
    },
  };
}

function proxyFromEnvironment(
  server: URL,
  env: Readonly<Record<string, string | undefined>>,
): URL | undefined {
  const address = {...hostPortOf(server), secure: server.protocol === 'https:'};
  const variable = findProxyVariable(address, env);
  if (variable === undefined || isSupportedProxy(variable.url)) return variable?.url;
  // The value may contain a password.
  throw new ConfigError(`${variable.name} must be a URL with the scheme http, https or socks5`, {
    hint: `set it to a URL such as http://10.0.0.1:3128, or add ${address.host} to NO_PROXY`,
  });
}

/** Reads the API server and credentials of a kubeconfig. Rejects with ConfigError. */
export async function readClusterAccess(file: string, signal: AbortSignal): Promise<ClusterAccess> {
  return parseKubeconfig(await readKubeconfig(file, signal), file);
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
