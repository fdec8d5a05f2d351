import {
  between,
  honored,
  honoredInCluster,
  ignored,
  notNegative,
  oneOf,
  problemOf,
  unsupported,
} from '../config-field.js';
import {
  ANYTHING,
  BOOL,
  DURATION,
  FILE_VERBOSITIES,
  INT32,
  NUMBERS,
  PATH,
  TEXT,
  TEXTS,
  pointer,
  type FileVerbosity,
} from '../config-field-types.js';
import {curveNames} from '../tls-curves.js';

const NEEDS_API = 'it requires an API server';

/** Checks a port; 0 disables the server. */
const port = (value: number): string | undefined => (value === 0 ? undefined : between(1, 65_535)(value));

/** Fields for the HTTP servers and the log. */
export const SERVER_FIELDS = {
  enableServer: honored(BOOL, true, {flag: 'enable-server'}),
  // The API server connects to the node for logs and exec.
  address: honoredInCluster(honored(TEXT, '127.0.0.1', {flag: 'address'}), '0.0.0.0'),
  port: honored(INT32, 10_250, {flag: 'port', check: between(1, 65_535)}),
  readOnlyPort: honored(INT32, 0, {flag: 'read-only-port', check: port}),
  tlsCertFile: honored(PATH, '', {flag: 'tls-cert-file'}),
  tlsPrivateKeyFile: honored(PATH, '', {flag: 'tls-private-key-file'}),
  tlsCipherSuites: honored(TEXTS, [], {flag: 'tls-cipher-suites'}),
  tlsCurvePreferences: honored(NUMBERS, [], {flag: 'tls-curve-preferences', check: problemOf(curveNames)}),
  tlsMinVersion: honored(TEXT, '', {
    flag: 'tls-min-version',
    check: oneOf('', 'VersionTLS10', 'VersionTLS11', 'VersionTLS12', 'VersionTLS13'),
  }),
  rotateCertificates: honoredInCluster(ignored(NEEDS_API, BOOL, false, {flag: 'rotate-certificates'})),
  serverTLSBootstrap: honoredInCluster(
    unsupported(NEEDS_API, BOOL, false, {flag: 'rotate-server-certificates'}),
  ),
  'authentication.x509.clientCAFile': honored(PATH, '', {flag: 'client-ca-file'}),
  'authentication.webhook.enabled': honoredInCluster(
    unsupported(`${NEEDS_API}; bearer tokens are rejected`, BOOL, false, {
      flag: 'authentication-token-webhook',
    }),
    true,
  ),
  'authentication.webhook.cacheTTL': honoredInCluster(
    ignored(NEEDS_API, DURATION, '2m0s', {flag: 'authentication-token-webhook-cache-ttl'}),
  ),
  'authentication.anonymous.enabled': honored(BOOL, false, {flag: 'anonymous-auth'}),
  'authorization.mode': honoredInCluster(
    honored(TEXT, 'AlwaysAllow', {flag: 'authorization-mode', check: authorizationProblem}),
    'Webhook',
  ),
  'authorization.webhook.cacheAuthorizedTTL': honoredInCluster(
    ignored(NEEDS_API, DURATION, '5m0s', {flag: 'authorization-webhook-cache-authorized-ttl'}),
  ),
  'authorization.webhook.cacheUnauthorizedTTL': honoredInCluster(
    ignored(NEEDS_API, DURATION, '30s', {flag: 'authorization-webhook-cache-unauthorized-ttl'}),
  ),
  enableDebuggingHandlers: honored(BOOL, true, {flag: 'enable-debugging-handlers'}),
  enableContentionProfiling: ignored('Node.js has no lock contention', BOOL, false, {
    flag: 'contention-profiling',
  }),
  enableProfilingHandler: honored(BOOL, true),
  enableDebugFlagsHandler: honored(BOOL, true),
  enableSystemLogHandler: honored(BOOL, true),
  enableSystemLogQuery: honored(BOOL, false),
  showHiddenMetricsForVersion: ignored('no metrics are hidden', TEXT, '', {
    flag: 'show-hidden-metrics-for-version',
  }),
  healthzPort: honored(pointer(INT32), 10_248, {flag: 'healthz-port', check: port}),
  healthzBindAddress: honored(TEXT, '127.0.0.1', {flag: 'healthz-bind-address'}),
  streamingConnectionIdleTimeout: honored(DURATION, '4h0m0s', {flag: 'streaming-connection-idle-timeout'}),
  'logging.format': honored(TEXT, 'text', {
    flag: 'logging-format',
    check: oneOf('text', 'json'),
    live: true,
  }),
  'logging.flushFrequency': ignored('each line is written immediately', ANYTHING, '5s', {
    flag: 'log-flush-frequency',
  }),
  'logging.verbosity': honored(INT32, 0, {flag: 'v', check: notNegative, live: true}),
  'logging.vmodule': honored(FILE_VERBOSITIES, [], {flag: 'vmodule', check: verbosityProblem, live: true}),
  'logging.options': ignored(
    'its fields need the feature gate LoggingAlphaOptions, which is off; messages are written to standard error',
    ANYTHING,
    undefined,
  ),
};

/** Returns the message of component-base for an invalid item (logs/api/v1 validateFormatOptions). */
function verbosityProblem(items: readonly FileVerbosity[]): string | undefined {
  for (const [index, {filePattern}] of items.entries()) {
    if (filePattern === '') return `[${index}]: File pattern must not be empty`;
    if (/[=,]/.test(filePattern)) return `[${index}]: File pattern must not contain equal sign or comma`;
  }
  return undefined;
}

function authorizationProblem(value: string, joinsCluster: boolean): string | undefined {
  const known = oneOf('AlwaysAllow', 'Webhook')(value);
  if (value !== 'Webhook' || joinsCluster) return known;
  return `${JSON.stringify(value)} is not supported: ${NEEDS_API}; use "AlwaysAllow"`;
}
