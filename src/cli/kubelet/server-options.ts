import type {Clock} from '../../base/clock.js';
import type {Logger} from '../../base/logger.js';
import type {Connection} from '../../cri/index.js';
import {
  asKubeletConfiguration,
  milliseconds,
  type LiveConfig,
  type DescribedNode,
  type KubeletRegistry,
  type ServerOptions,
} from '../../kubelet/index.js';

/** What the servers need besides the configuration. */
export interface ServerSurroundings {
  readonly connection: Connection;
  readonly node: DescribedNode;
  readonly certDir: string;
  readonly policyFile: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: KubeletRegistry;
  readonly program: NonNullable<ServerOptions['program']>;
}

/** How a KubeletConfiguration wants the kubelet's HTTP servers. */
export function serverOptions(
  live: LiveConfig,
  {connection, node: {node}, certDir, policyFile, clock, logger, metrics, program}: ServerSurroundings,
): ServerOptions {
  const {values} = live;
  const {address, enableServer, port, readOnlyPort, healthzPort, healthzBindAddress} = values;
  const {tlsMinVersion: version, tlsCipherSuites: ciphers} = values;
  return {
    node,
    runtime: connection.runtime,
    images: connection.images,
    clock,
    logger,
    metrics,
    main: enableServer ? {address, port} : undefined,
    readOnly: readOnlyPort === 0 ? undefined : {address, port: readOnlyPort},
    health: healthzPort === 0 ? undefined : {address: healthzBindAddress, port: healthzPort},
    certificate: {
      certFile: given(values.tlsCertFile),
      keyFile: given(values.tlsPrivateKeyFile),
      certDir,
      names: node.nodeIps,
      // Older versions than 1.2 are not spoken.
      minVersion: version === 'VersionTLS13' ? version : 'VersionTLS12',
      cipherSuites: ciphers.length === 0 ? undefined : ciphers,
    },
    access: {
      anonymous: values['authentication.anonymous.enabled'],
      clientCaFile: given(values['authentication.x509.clientCAFile']),
      policyFile,
    },
    debuggingHandlers: values.enableDebuggingHandlers,
    systemLogHandler: values.enableSystemLogHandler,
    systemLogDir: '/var/log',
    streamingIdleTimeoutMs: milliseconds(values.streamingConnectionIdleTimeout),
    syncFrequencyMs: milliseconds(values.syncFrequency),
    program,
    get configuration() {
      return asKubeletConfiguration(live.values);
    },
  };
}

function given(path: string): string | undefined {
  return path === '' ? undefined : path;
}
