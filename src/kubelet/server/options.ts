import type {Clock} from '../../base/clock.js';
import type {Logger} from '../../base/logger.js';
import type {ImageService, RuntimeService} from '../../cri/index.js';
import type {NodeFacts} from '../container/node.js';
import type {KubeletRegistry} from '../metrics/kubelet-registry.js';

/** Where a server listens: an IP address, and a port; 0 takes any free one. */
export interface ListenAddress {
  readonly address: string;
  readonly port: number;
}

/** The authenticated port's certificate. */
export interface ServingCertificate {
  /** tlsCertFile and tlsPrivateKeyFile, PEM; both or neither. */
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  /** --cert-dir: without files `kubelet.crt` and `kubelet.key` in it, made when they are missing. */
  readonly certDir: string;
  /** Further names and IP addresses in a certificate that is made, besides the node's name. */
  readonly names: readonly string[];
  /** tlsMinVersion; `VersionTLS12` without. */
  readonly minVersion?: 'VersionTLS12' | 'VersionTLS13' | undefined;
  /** tlsCipherSuites in Go's names; the runtime's own choice without. */
  readonly cipherSuites?: readonly string[] | undefined;
}

/** Who is let in at the authenticated port, and to what. */
export interface ServerAccess {
  /** authentication.anonymous.enabled: who shows no certificate is `system:anonymous`, otherwise 401. */
  readonly anonymous: boolean;
  /** authentication.x509.clientCAFile: certificates of these authorities say who somebody is. */
  readonly clientCaFile?: string | undefined;
  /**
   * A file of ClusterRoles and ClusterRoleBindings that says who may do what; undefined lets everybody who is
   * authenticated do everything (AlwaysAllow).
   */
  readonly policyFile?: string | undefined;
}

/** What a kubelet's HTTP servers run with. What of it is a KubeletConfiguration's field is said by its name there. */
export interface ServerOptions {
  readonly node: Pick<NodeFacts, 'nodeName' | 'rootDir' | 'podLogsDir'>;
  readonly runtime: RuntimeService;
  readonly images: ImageService;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: KubeletRegistry;
  /** address and port; undefined when there is to be no authenticated port. */
  readonly main?: ListenAddress | undefined;
  /** The same address and readOnlyPort; undefined, the default, for none. */
  readonly readOnly?: ListenAddress | undefined;
  /** healthzBindAddress and healthzPort; undefined for none. */
  readonly health?: ListenAddress | undefined;
  readonly certificate: ServingCertificate;
  readonly access: ServerAccess;
  /** enableDebuggingHandlers: without it logs, exec and their like are 405. */
  readonly debuggingHandlers: boolean;
  /** enableSystemLogHandler: whether /logs/ shows files. */
  readonly systemLogHandler: boolean;
  /** What /logs/ shows; /var/log for a kubelet. */
  readonly systemLogDir: string;
  /** streamingConnectionIdleTimeout; 0 for none. */
  readonly streamingIdleTimeoutMs: number;
  readonly syncFrequencyMs: number;
  /** What /statusz and /flagz show of the program, and nothing secret; without it there are neither. */
  readonly program?: {readonly version: string; readonly flags: Readonly<Record<string, string>>};
  /** The whole KubeletConfiguration as it is in force at the time, which /configz shows. */
  readonly configuration: Readonly<Record<string, unknown>>;
}

/** Servers that listen. */
export interface RunningServers {
  /** By server: such as `https://127.0.0.1:10250`. */
  readonly urls: Readonly<Partial<Record<'main' | 'readOnly' | 'health', string>>>;
  /** Resolves when, after the signal has aborted, all connections are closed. Never rejects. */
  readonly closed: Promise<void>;
}
