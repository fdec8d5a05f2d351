import {readFile} from 'node:fs/promises';
import {getCiphers, type TlsOptions} from 'node:tls';
import {ConfigError} from '../../base/errors.js';
import {withFileErrors} from '../../base/files.js';
import {ALLOW_ALL, readPolicy, type Authorize} from './access/policy.js';
import {servingPair} from './certificate/serving-pair.js';
import {checkpointRoute, runRoutes} from './container-actions.js';
import {containerLogsRoute} from './container-logs.js';
import {healthRoutes} from './health.js';
import {listen, type Listener, type ListenOptions, type Respond} from './listener.js';
import {metricRoutes} from './metric-routes.js';
import type {RunningServers, ServerOptions} from './options.js';
import {configzRoute, podsRoute, runningPodsRoute} from './pod-lists.js';
import type {Route} from './routes.js';
import type {ServedKubelet} from './served-kubelet.js';
import {Site, type SiteOptions} from './site.js';
import {streamRoutes} from './streams/stream-routes.js';
import {systemLogsRoute} from './system-logs.js';
import {zpageRoutes} from './zpages.js';

const DEBUG_ROOTS = ['run', 'exec', 'attach', 'portForward', 'containerLogs', 'runningpods', 'logs', 'debug'];

/** What to do when a server's address can't be had. */
const WAYS_OUT = {
  main: 'give another --port or --address, or --enable-server=false for no such server',
  readOnly: 'give another --read-only-port or --address, or 0 for no such server',
  health: 'give another --healthz-port or --healthz-bind-address, or 0 for no such server',
} as const satisfies Record<keyof RunningServers['urls'], string>;

/**
 * Begins to serve (ListenAndServeKubeletServer and its sisters): an authenticated port with TLS, a read-only port, a
 * health port, each as far as it is wanted, until the signal aborts. Rejects with SystemError and ConfigError, and
 * serves nothing then.
 */
export async function startServers(
  kubelet: ServedKubelet,
  options: ServerOptions,
  signal: AbortSignal,
): Promise<RunningServers> {
  const {main, readOnly, health, logger, clock} = options;
  const open = openRoutes(kubelet, options);
  const listeners = new Map<keyof RunningServers['urls'], Listener>();
  const serve = (
    name: keyof typeof WAYS_OUT,
    site: Pick<SiteOptions, 'routes' | 'disabled' | 'access'>,
  ): ListenOptions => ({
    clock,
    wayOut: WAYS_OUT[name],
    respond: respondOf({...options, ...site, signal}),
  });
  const closeAll = async (): Promise<void> => {
    for (const listener of listeners.values()) await listener.close();
  };
  try {
    if (main !== undefined) {
      const {address, port} = main;
      logger.info('Starting to listen', {address, port});
      const site = await authenticatedSite(kubelet, options, open);
      const served = serve('main', site);
      listeners.set('main', await listen(main, {...served, tls: await tlsOptions(options)}));
    }
    if (readOnly !== undefined) {
      const {address, port} = readOnly;
      logger.info('Starting to listen read-only', {address, port});
      const site = {routes: open, disabled: disabledDebug(), access: undefined};
      listeners.set('readOnly', await listen(readOnly, serve('readOnly', site)));
    }
    if (health !== undefined) {
      const site = {routes: healthRoutes({kubelet, ...options}), disabled: new Map(), access: undefined};
      listeners.set('health', await listen(health, serve('health', site)));
    }
  } catch (error) {
    await closeAll();
    throw error;
  }
  const urls = Object.fromEntries([...listeners].map(([name, {url}]) => [name, url]));
  return {urls, closed: aborted(signal).then(closeAll)};
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    signal.addEventListener(
      'abort',
      () => {
        resolve();
      },
      {once: true},
    );
  });
}

function respondOf(options: SiteOptions): Respond {
  const site = new Site(options);
  return (request, response, upgrade) => site.respond(request, response, upgrade);
}

async function authenticatedSite(
  kubelet: ServedKubelet,
  options: ServerOptions,
  open: readonly Route[],
): Promise<Pick<SiteOptions, 'routes' | 'disabled' | 'access'>> {
  const {access, debuggingHandlers, node} = options;
  const {policyFile} = access;
  const authorize: Authorize =
    policyFile === undefined ? ALLOW_ALL : await readPolicy(policyFile, node.nodeName);
  return {
    routes: debuggingHandlers ? [...open, ...debugRoutes(kubelet, options, open)] : open,
    disabled: debuggingHandlers ? disabledParts(options) : disabledDebug(),
    access: {anonymous: access.anonymous, authorize},
  };
}

/** What every port but the health port serves (InstallAuthNotRequiredHandlers). */
function openRoutes(kubelet: ServedKubelet, options: ServerOptions): readonly Route[] {
  return [...healthRoutes({kubelet, ...options}), podsRoute(kubelet), ...metricRoutes(kubelet, options)];
}

/** What only who was let in may ask for (InstallAuthRequiredHandlers). */
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
    ...runRoutes(kubelet, options),
    checkpointRoute(kubelet, options),
    ...(options.systemLogHandler ? [systemLogsRoute(options.systemLogDir)] : []),
  ];
  return [...routes, ...zpageRoutes(options, [...open, ...routes])];
}

function disabledDebug(): ReadonlyMap<string, string> {
  return new Map(DEBUG_ROOTS.map((root) => [root, 'Debug endpoints are disabled.']));
}

/** kcri is no Go program: there is nothing to profile as pprof does. */
function disabledParts({systemLogHandler}: ServerOptions): ReadonlyMap<string, string> {
  return new Map([
    ['debug', 'profiling endpoint is disabled.'],
    ...(systemLogHandler ? [] : [['logs', 'logs endpoint is disabled.'] as const]),
  ]);
}

const TLS_VERSIONS = {VersionTLS12: 'TLSv1.2', VersionTLS13: 'TLSv1.3'} as const;

async function tlsOptions({certificate, access, node, clock}: ServerOptions): Promise<TlsOptions> {
  const {certificate: cert, key} = await servingPair(certificate, node.nodeName, clock);
  const {clientCaFile} = access;
  const {minVersion = 'VersionTLS12', cipherSuites = []} = certificate;
  return {
    cert,
    key,
    minVersion: TLS_VERSIONS[minVersion],
    ...(cipherSuites.length > 0 && {ciphers: ciphersOf(cipherSuites)}),
    // Who shows a bad certificate is told so in HTTP.
    ...(clientCaFile !== undefined && {
      ca: await withFileErrors('reading the certificate authorities of clients', clientCaFile, () =>
        readFile(clientCaFile),
      ),
      requestCert: true,
      rejectUnauthorized: false,
    }),
  };
}

/** Go's names of cipher suites as OpenSSL's. Throws ConfigError for one that there isn't. */
function ciphersOf(suites: readonly string[]): string {
  const known = new Set(getCiphers().map((name) => name.toUpperCase()));
  return suites
    .map((suite) => {
      const name = opensslName(suite);
      if (known.has(name)) return name;
      throw new ConfigError(`tlsCipherSuites has the unknown or unsafe suite "${suite}"`);
    })
    .join(':');
}

/** `TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256` is `ECDHE-RSA-AES128-GCM-SHA256`; those of TLS 1.3 are the same. */
function opensslName(suite: string): string {
  if (!suite.includes('_WITH_')) return suite.toUpperCase();
  return suite
    .replace(/^TLS_/, '')
    .replace('_WITH_', '_')
    .replace(/AES_(\d+)/, 'AES$1')
    .replace(/CHACHA20_POLY1305.*/, 'CHACHA20_POLY1305')
    .replaceAll('_', '-')
    .toUpperCase();
}
