import {aborted} from '../../base/async/aborted.js';
import {runInBackground} from '../../base/async/background-work.js';
import {createSecureContext, type TlsOptions} from 'node:tls';
import {ConfigError} from '../../base/errors.js';
import type {Logger} from '../../base/logger.js';
import {createAuthenticator} from './auth/authenticate.js';
import {readAuthorizationPolicy} from './auth/authorization-policy.js';
import {ALWAYS_ALLOW, authorizeByPolicy, authorizeByReview, type Authorize} from './auth/authorize.js';
import {selectCiphers} from './certificate/cipher-suites.js';
import {followClientCa, readClientCa} from './certificate/client-ca.js';
import {ensureServingCertificate} from './certificate/serving-certificate.js';
import {createCheckpointRoute, createRunRoutes} from './routes/container-action-routes.js';
import {containerLogsRoute} from './routes/container-logs-route.js';
import {healthRoutes, kubeletChecks, PING_CHECK} from './routes/health-routes.js';
import {listen, type Listener, type ListenOptions} from '../../http-server/listener.js';
import type {RequestHandler} from '../../http-server/request-server.js';
import {TurnQueue} from '../../http-server/turn-queue.js';
import {metricRoutes} from './routes/metric-routes.js';
import type {RunningServers, ServerOptions, ServingCertificate} from './http-server-options.js';
import {configzRoute, podsRoute, runningPodsRoute} from './routes/pod-list-routes.js';
import type {Route} from './router.js';
import type {ServedKubelet} from './served-kubelet.js';
import {HttpApp, type HttpAppOptions} from './http-app.js';
import {streamRoutes} from './streams/stream-routes.js';
import {systemLogsRoute} from './routes/system-logs-route.js';
import {debugRootRoutes} from './routes/debug-routes.js';
import {zpageRoutes} from './routes/zpage-routes.js';

const DEBUG_ROOTS = ['run', 'exec', 'attach', 'portForward', 'containerLogs', 'runningpods', 'logs', 'debug'];

/** Hints for a server whose address is unavailable. */
const LISTEN_HINTS = {
  main: 'set another --port or --address, or disable the server with --enable-server=false',
  readOnly: 'set another --read-only-port or --address, or disable the server with --read-only-port=0',
  health: 'set another --healthz-port or --healthz-bind-address, or disable the server with --healthz-port=0',
} as const satisfies Record<keyof RunningServers['urls'], string>;

/**
 * Starts the configured HTTP servers: the authenticated one with TLS, the read-only one and the health server
 * (ListenAndServeKubeletServer, ListenAndServeKubeletReadOnlyServer). They run until the signal aborts. Rejects with
 * SystemError or ConfigError if one of them cannot start; none runs then.
 */
export async function startServers(
  kubelet: ServedKubelet,
  options: ServerOptions,
  signal: AbortSignal,
): Promise<RunningServers> {
  const {main, readOnly, health, clock} = options;
  const logger = options.logger.forFile('start-servers.ts');
  const open = openRoutes(kubelet, options, signal);
  const turns = new TurnQueue();
  const listeners = new Map<keyof RunningServers['urls'], Listener>();
  const serve = (name: keyof typeof LISTEN_HINTS, app: PortOptions): ListenOptions => ({
    clock,
    hint: LISTEN_HINTS[name],
    schedule: name === 'health' ? turns.scheduleUrgent : turns.schedule,
    respond: createRequestHandler({...options, ...app}),
  });
  const closeAll = async (): Promise<void> => {
    for (const listener of listeners.values()) await listener.close();
  };
  try {
    if (main !== undefined) {
      const {address, port} = main;
      logger.info('Starting to listen', {address, port});
      const listenOptions = serve('main', await authenticatedPortOptions(kubelet, options, open));
      const tls = await tlsOptions(options);
      const listener = await listen(main, {...listenOptions, tls});
      listeners.set('main', listener);
      followTls(listener, tls, options, signal);
    }
    if (readOnly !== undefined) {
      const {address, port} = readOnly;
      logger.info('Starting to listen read-only', {address, port});
      const app = {routes: open, disabled: disabledDebugEndpoints(), access: undefined};
      listeners.set('readOnly', await listen(readOnly, serve('readOnly', app)));
    }
    if (health !== undefined) {
      const routes = healthRoutes(PING_CHECK, options);
      const app = {routes, disabled: new Map(), access: undefined, tracer: undefined};
      listeners.set('health', await listen(health, serve('health', app)));
    }
  } catch (error) {
    await closeAll();
    throw error;
  }
  const urls = Object.fromEntries([...listeners].map(([name, {url}]) => [name, url]));
  return {urls, closed: aborted(signal).then(closeAll)};
}

/** Uses new serving certificates and certificate authorities of clients until the signal aborts. */
function followTls(
  listener: Listener,
  initial: AuthenticatedTls,
  {certificate, access: {clientCaFile: file}, clock, logger}: ServerOptions,
  signal: AbortSignal,
): void {
  let tls = initial;
  certificate.issued?.subscribe(({certificate: cert, key}) => {
    tls = {...tls, cert, key};
    listener.replaceTls(tls);
  });
  if (file === undefined || tls.ca === undefined) return;
  const onChange = (ca: string): void => {
    tls = {...tls, ca};
    listener.replaceTls(tls);
    // The certificates of present connections were verified with the old authorities.
    listener.retireConnections();
  };
  const log = logger.forFile('start-servers.ts');
  const following = followClientCa({file, current: tls.ca, onChange, clock, logger: log}, signal);
  runInBackground('client CA', following);
}

type PortOptions = Pick<HttpAppOptions, 'routes' | 'disabled' | 'access' | 'tracer'>;

function createRequestHandler(options: HttpAppOptions): RequestHandler {
  const app = new HttpApp(options);
  return (exchange) => app.respond(exchange);
}

async function authenticatedPortOptions(
  kubelet: ServedKubelet,
  options: ServerOptions,
  open: readonly Route[],
): Promise<PortOptions> {
  const {access, debuggingHandlers, clock} = options;
  return {
    routes: debuggingHandlers ? [...open, ...debugRoutes(kubelet, options, open)] : open,
    disabled: debuggingHandlers ? disabledEndpoints(options) : disabledDebugEndpoints(),
    access: {
      authenticate: createAuthenticator({
        anonymous: access.anonymous,
        reviews: access.tokenReviews,
        clock,
      }),
      authorize: await createAuthorizer(options),
    },
  };
}

async function createAuthorizer({
  access: {policyFile, accessReviews},
  node: {nodeName},
}: ServerOptions): Promise<Authorize> {
  if (policyFile !== undefined) return authorizeByPolicy(await readAuthorizationPolicy(policyFile, nodeName));
  return accessReviews === undefined ? ALWAYS_ALLOW : authorizeByReview(accessReviews, nodeName);
}

/** Returns the routes of the authenticated and the read-only port (InstallAuthNotRequiredHandlers). */
function openRoutes(kubelet: ServedKubelet, options: ServerOptions, signal: AbortSignal): readonly Route[] {
  return [
    ...healthRoutes(kubeletChecks({kubelet, ...options}), options),
    podsRoute(kubelet),
    ...metricRoutes(kubelet, options, signal),
  ];
}

/** Returns the debug routes, which require authentication (InstallAuthRequiredHandlers). */
function debugRoutes(
  kubelet: ServedKubelet,
  options: ServerOptions,
  open: readonly Route[],
): readonly Route[] {
  const routes = [
    runningPodsRoute(kubelet),
    configzRoute(options),
    containerLogsRoute(kubelet, options),
    ...streamRoutes(kubelet, options),
    ...createRunRoutes(kubelet, options),
    createCheckpointRoute(kubelet, options),
    ...(options.systemLogHandler ? [systemLogsRoute(options)] : []),
    ...debugRootRoutes(options),
  ];
  return [...routes, ...zpageRoutes(options, [...open, ...routes])];
}

function disabledDebugEndpoints(): ReadonlyMap<string, string> {
  return new Map(DEBUG_ROOTS.map((root) => [root, 'Debug endpoints are disabled.']));
}

/** Returns the endpoints that are disabled on the authenticated port. */
function disabledEndpoints({systemLogHandler}: ServerOptions): ReadonlyMap<string, string> {
  return new Map(systemLogHandler ? [] : [['logs', 'logs endpoint is disabled.']]);
}

const TLS_VERSIONS = {VersionTLS12: 'TLSv1.2', VersionTLS13: 'TLSv1.3'} as const;

type AuthenticatedTls = TlsOptions & {readonly ca?: string};

async function tlsOptions({
  certificate,
  access,
  node,
  clock,
  logger,
}: ServerOptions): Promise<AuthenticatedTls> {
  const {issued} = certificate;
  const pair =
    issued === undefined ? await ensureServingCertificate(certificate, node.nodeName, clock) : issued.current;
  const {clientCaFile} = access;
  const {minVersion = 'VersionTLS12'} = certificate;
  return {
    ...(pair !== undefined && {cert: pair.certificate, key: pair.key}),
    minVersion: TLS_VERSIONS[minVersion],
    ...cipherOptions(certificate, logger),
    ...curveOptions(certificate, logger),
    // A client with an invalid certificate gets a 401 response instead of a TLS error.
    ...(clientCaFile !== undefined && {
      ca: await readClientCa(clientCaFile),
      requestCert: true,
      rejectUnauthorized: false,
    }),
  };
}

/** Returns the curves and logs which of the configured ones this program lacks. */
function curveOptions({curves = []}: ServingCertificate, logger: Logger): Pick<TlsOptions, 'ecdhCurve'> {
  if (curves.length === 0) return {};
  const usable = curves.filter(isUsableCurve);
  const log = logger.forFile('start-servers.ts');
  for (const curve of curves)
    if (!usable.includes(curve)) log.info('Ignoring a curve that this program lacks', {curve});
  if (usable.length === 0)
    throw new ConfigError(`invalid tlsCurvePreferences: this program has none of ${curves.join(', ')}`);
  return {ecdhCurve: usable.join(':')};
}

function isUsableCurve(ecdhCurve: string): boolean {
  try {
    createSecureContext({ecdhCurve});
    return true;
  } catch {
    return false;
  }
}

/** Returns the cipher list and logs which of the configured suites are insecure or unavailable (InitializeTLS). */
function cipherOptions(
  {cipherSuites = [], minVersion}: ServingCertificate,
  logger: Logger,
): Pick<TlsOptions, 'ciphers'> {
  if (cipherSuites.length === 0) return {};
  const {ciphers, insecure, unavailable} = selectCiphers(cipherSuites);
  const log = logger.forFile('start-servers.ts');
  for (const cipher of insecure) log.info('Use of an insecure cipher suite', {cipher});
  for (const cipher of unavailable) log.info('Ignoring a cipher suite that this program lacks', {cipher});
  if (minVersion === 'VersionTLS13')
    log.info('Ignoring tlsCipherSuites: the cipher suites of TLS 1.3 are not configurable');
  return {ciphers};
}
