import type {Clock} from '../../base/clock.js';
import type {Logger} from '../../base/logger.js';
import type {Connection} from '../../cri/index.js';
import {
  curveNames,
  toKubeletConfiguration,
  durationToMs,
  periodToMs,
  type LiveConfig,
  type NodeAndRuntime,
  type KubeletMetricsRegistry,
  type KubeletTracer,
  type ServerAccess,
  type ServerOptions,
} from '../../kubelet/index.js';

/** Dependencies of the HTTP servers besides the configuration. */
export interface ServerDependencies {
  readonly connection: Connection;
  readonly node: NodeAndRuntime;
  readonly certDir: string;
  readonly policyFile: string | undefined;
  /** Serving certificate that a control plane issues; undefined to use that of a file. */
  readonly issued: ServerOptions['certificate']['issued'];
  /** Reviews by the API server; empty without one. */
  readonly reviews: Pick<ServerAccess, 'tokenReviews' | 'accessReviews'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: KubeletMetricsRegistry;
  readonly tracer: KubeletTracer | undefined;
  readonly program: NonNullable<ServerOptions['program']>;
}

/** Creates the options of the kubelet's HTTP servers from its configuration. */
export function createServerOptions(
  live: LiveConfig,
  {
    connection,
    node: {node},
    certDir,
    policyFile,
    issued,
    reviews,
    clock,
    logger,
    metrics,
    tracer,
    program,
  }: ServerDependencies,
): ServerOptions {
  const {values} = live;
  const {address, enableServer, port, readOnlyPort, healthzPort, healthzBindAddress} = values;
  const {tlsMinVersion: version, tlsCipherSuites: ciphers} = values;
  return {
    node,
    runtime: connection.runtime,
    images: connection.images,
    clock,
    ...{logger, metrics, tracer},
    main: enableServer ? {address, port} : undefined,
    readOnly: readOnlyPort === 0 ? undefined : {address, port: readOnlyPort},
    health: healthzPort === 0 ? undefined : {address: healthzBindAddress, port: healthzPort},
    certificate: {
      certFile: optionalPath(values.tlsCertFile),
      keyFile: optionalPath(values.tlsPrivateKeyFile),
      certDir,
      issued,
      names: node.hostIps.current,
      // TLS 1.2 is the lowest supported version.
      minVersion: version === 'VersionTLS13' ? version : 'VersionTLS12',
      cipherSuites: ciphers.length === 0 ? undefined : ciphers,
      curves: curveNames(values.tlsCurvePreferences),
    },
    access: {
      anonymous: values['authentication.anonymous.enabled'],
      clientCaFile: optionalPath(values['authentication.x509.clientCAFile']),
      policyFile,
      ...reviews,
    },
    debuggingHandlers: values.enableDebuggingHandlers,
    systemLogHandler: values.enableSystemLogHandler,
    systemLogQuery: values.enableSystemLogQuery,
    systemLogDir: '/var/log',
    streamingIdleTimeoutMs: durationToMs(values.streamingConnectionIdleTimeout),
    syncFrequencyMs: periodToMs(values.syncFrequency),
    volumeStatsPeriodMs: durationToMs(values.volumeStatsAggPeriod),
    profilingHandler: values.enableProfilingHandler,
    setVerbosity: values.enableDebugFlagsHandler ? setVerbosityOf(live) : undefined,
    program,
    get configuration() {
      return toKubeletConfiguration(live.values);
    },
  };
}

function setVerbosityOf(live: LiveConfig): NonNullable<ServerOptions['setVerbosity']> {
  return (level) => {
    live.setVerbosity(level);
  };
}

function optionalPath(path: string): string | undefined {
  return path === '' ? undefined : path;
}
