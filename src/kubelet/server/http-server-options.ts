import type {Clock} from '../../base/clock.js';
import type {Logger} from '../../base/logger.js';
import type {ImageService, RuntimeService} from '../../cri/index.js';
import type {ListenAddress} from '../../http-server/listener.js';
import type {AccessReviews} from '../contract/access-reviews.js';
import type {NodeFacts} from '../contract/node-facts.js';
import type {KubeletTracer} from '../contract/observation/kubelet-tracer.js';
import type {IssuedCertificate} from '../contract/cluster/issued-certificate.js';
import type {KubeletMetricsRegistry} from '../managers/metrics/kubelet-metrics-registry.js';

/** Certificate and TLS settings of the authenticated port. */
export interface ServingCertificate {
  /** tlsCertFile and tlsPrivateKeyFile, in PEM; must be set together. */
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  /** --cert-dir: directory of the generated `kubelet.crt` and `kubelet.key`, used without `certFile`. */
  readonly certDir: string;
  /** serverTLSBootstrap: certificates that a control plane issues; handshakes fail while there is none. */
  readonly issued?: IssuedCertificate | undefined;
  /** DNS names and IP addresses of a generated certificate, in addition to the node name. */
  readonly names: readonly string[];
  /** tlsMinVersion; default `VersionTLS12`. */
  readonly minVersion?: 'VersionTLS12' | 'VersionTLS13' | undefined;
  /** tlsCipherSuites, by Go's names; default: the suites of the TLS library. */
  readonly cipherSuites?: readonly string[] | undefined;
  /** tlsCurvePreferences, by OpenSSL's names; default: the curves of the TLS library. */
  readonly curves?: readonly string[] | undefined;
}

/** Authentication and authorization of the authenticated port. */
export interface ServerAccess {
  /** authentication.anonymous.enabled: requests without credentials are from `system:anonymous`; otherwise 401. */
  readonly anonymous: boolean;
  /** authentication.x509.clientCAFile: CA bundle for client-certificate authentication. */
  readonly clientCaFile?: string | undefined;
  /** authentication.webhook: reviews of bearer tokens; without them, tokens are ignored. */
  readonly tokenReviews?: Pick<AccessReviews, 'reviewToken'> | undefined;
  /** authorization.mode Webhook: reviews that authorize requests, unless there is a `policyFile`. */
  readonly accessReviews?: Pick<AccessReviews, 'reviewAccess'> | undefined;
  /**
   * File of ClusterRoles and ClusterRoleBindings that authorizes requests; with neither, any authenticated client may do
   * anything (AlwaysAllow).
   */
  readonly policyFile?: string | undefined;
}

/** Options of the kubelet's HTTP servers; comments name the fields of KubeletConfiguration. */
export interface ServerOptions {
  readonly node: Pick<NodeFacts, 'nodeName' | 'rootDir' | 'podLogsDir' | 'cgroup' | 'cgroupMount'>;
  readonly runtime: RuntimeService;
  readonly images: ImageService;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: KubeletMetricsRegistry;
  /** Traces authorized requests, but not those to the health server; by default they are not traced. */
  readonly tracer?: Pick<KubeletTracer, 'startRequest'> | undefined;
  /** address and port of the authenticated server; undefined disables it. */
  readonly main?: ListenAddress | undefined;
  /** address and readOnlyPort; undefined, the default, disables the read-only server. */
  readonly readOnly?: ListenAddress | undefined;
  /** healthzBindAddress and healthzPort; undefined disables the health server. */
  readonly health?: ListenAddress | undefined;
  readonly certificate: ServingCertificate;
  readonly access: ServerAccess;
  /** enableDebuggingHandlers: if false, logs, exec and the other debug endpoints respond with 405. */
  readonly debuggingHandlers: boolean;
  /** enableSystemLogHandler: whether /logs/ serves files. */
  readonly systemLogHandler: boolean;
  /** enableSystemLogQuery: whether /logs/ answers queries for the logs of services. */
  readonly systemLogQuery: boolean;
  /** Directory that /logs/ serves; /var/log for a kubelet. */
  readonly systemLogDir: string;
  /** Value of streamingConnectionIdleTimeout, in ms; 0 for no timeout. */
  readonly streamingIdleTimeoutMs: number;
  readonly syncFrequencyMs: number;
  /** volumeStatsAggPeriod: time after which a volume is measured again; if negative, none is measured. */
  readonly volumeStatsPeriodMs: number;
  /** enableProfilingHandler: whether /debug/pprof/ records profiles of this process. */
  readonly profilingHandler: boolean;
  /** Sets the verbosity of the log, for /debug/flags/v; undefined if enableDebugFlagsHandler is false. */
  readonly setVerbosity?: ((level: number) => void) | undefined;
  /** Version and flags, without secrets, for /statusz and /flagz; without it, neither is served. */
  readonly program?: {readonly version: string; readonly flags: Readonly<Record<string, string>>};
  /** KubeletConfiguration in effect, which /configz shows. */
  readonly configuration: Readonly<Record<string, unknown>>;
}

/** HTTP servers that are listening. */
export interface RunningServers {
  /** URLs by server, such as `https://127.0.0.1:10250`. */
  readonly urls: Readonly<Partial<Record<'main' | 'readOnly' | 'health', string>>>;
  /** Resolves after the signal has aborted and all connections are closed. Never rejects. */
  readonly closed: Promise<void>;
}
