import {onAbort} from '../../base/async/abort-callbacks.js';
import {KcriError} from '../../base/errors.js';
import type {ContainerdConnection} from '../../containerd/connect-containerd.js';
import type {CallObserver, Connection, ConnectOptions} from '../../cri/index.js';
import type {ForwardedAddress} from '../../streaming/session/session.js';
import type {SavedNode} from '../archive/saved-node.js';
import {archiveFile} from '../../cri/endpoint.js';
import type {RemoteRuntime} from '../remote/remote-runtime.js';
import {formatRetryMessage} from '../settings/discover-endpoint.js';
import type {CliContext} from '../process/context.js';
import type {Dialect, ServiceName} from '../dialect/dialect.js';
import type {CommandOutput} from '../output/command-output.js';
import type {CommandReporter} from '../output/command-reporter.js';
import type {CommandSettings} from '../settings/command-settings.js';

/** Part of CommandServices that connections need. */
export interface ConnectionServices {
  readonly context: CliContext;
  readonly dialect: Dialect;
  readonly name: string;
  readonly out: CommandOutput;
  readonly report: CommandReporter;
  readonly settings: CommandSettings;
  readonly signal: AbortSignal;
  /** Ends the command with this reason. */
  readonly end: (reason: unknown) => void;
  /** True if ssh may ask questions on the terminal. */
  readonly mayAsk: boolean;
  /** Returns the observers of calls to the runtime. */
  callObservers(): Promise<readonly CallObserver[]>;
  /** Opens a saved node. Rejects with ConfigError. */
  openArchive(file: string): Promise<SavedNode>;
}

/** Options of a connection to an endpoint other than the configured one. */
export interface OpenConnectionOptions {
  /** Timeout of a call; 0 or less selects the configured one. */
  readonly timeoutMs?: number;
  readonly imageEndpoint?: string | undefined;
  readonly observers?: readonly CallObserver[];
}

/** Endpoint of containerd's own services. */
type ContainerdEndpoint = 'images' | 'runtime';

/** Connections to runtimes of one command, closed when it ends. */
export class RuntimeConnections {
  readonly #services: ConnectionServices;
  readonly #open: Pick<Connection, 'close'>[] = [];
  #default: Connection | undefined;
  #needs: readonly ServiceName[] | undefined;
  readonly #remotes: RemoteRuntime[] = [];
  #saved: SavedNode | undefined;
  readonly #parts = new Set<RuntimeConnections>();
  #loss: unknown;
  readonly #containerd = new Map<ContainerdEndpoint, Promise<ContainerdConnection>>();

  constructor(services: ConnectionServices) {
    this.#services = services;
  }

  /** Sets the services that the command line uses, if they are not those of its command. */
  require(needs: readonly ServiceName[]): void {
    this.#needs = needs;
  }

  /** Services that the command line uses. */
  get #required(): readonly ServiceName[] {
    const {dialect, name} = this.#services;
    return this.#needs ?? dialect.servicesOf(name);
  }

  /**
   * Connects to the configured or the discovered runtime. `timeoutMs` limits each call; 0 selects the configured
   * timeout, and calls fail at once if it is negative. Later calls return the same connection. Rejects with ConfigError
   * without an endpoint.
   */
  async default(timeoutMs = 0): Promise<Connection> {
    this.#default ??= await this.open(await this.endpoint(), {timeoutMs});
    return this.#default;
  }

  /** Returns the configured or the discovered endpoint. Rejects with ConfigError. */
  async endpoint(): Promise<string> {
    return (await this.#services.settings.read()).runtimeEndpoint ?? (await this.#findEndpoint());
  }

  async #findEndpoint(): Promise<string> {
    const {context, dialect, report, settings, signal} = this.#services;
    return await dialect.findEndpoint({
      wellKnownEndpoints: context.wellKnownEndpoints,
      rootDir: settings.rootDir,
      needs: this.#required,
      open: async (endpoint) => await this.#connect(endpoint, {maxRetries: 0}),
      reporter: report.reporter,
      signal,
    });
  }

  /**
   * Connects to the runtime at `endpoint`, independent of the settings, but through the configured endpoint if that is of a
   * recorder of this runtime: pods know only the runtime.
   */
  async open(runtime: string, options: OpenConnectionOptions = {}): Promise<Connection> {
    const {dialect, settings, signal} = this.#services;
    const configured = await settings.read();
    const {runtimeEndpoint = runtime} = configured;
    const endpoint = (await isRecorderOf(runtimeEndpoint, runtime)) ? runtimeEndpoint : runtime;
    const needs = this.#required;
    const {timeoutMs = 0, observers = []} = options;
    const imageEndpoint = options.imageEndpoint ?? configured.imageEndpoint;
    const connection = await this.#connect(dialect.resolveAddress(endpoint), {
      imageEndpoint:
        imageEndpoint === undefined ? undefined : dialect.resolveImageAddress(imageEndpoint, needs),
      observers,
      ...(timeoutMs === 0 ? {} : {timeoutMs}),
    });
    await dialect.checkConnection({connection, endpoint, imageEndpoint, needs, signal});
    return connection;
  }

  /** The RemoteError of a lost connection to a remote node; undefined while none is lost. */
  get loss(): unknown {
    return this.#loss;
  }

  /**
   * Waits until a lost connection to a remote node is noticed, if the error may be a consequence of it: a stream ends
   * before ssh does. Rejects with the reason of the loss, or the signal's.
   */
  async awaitLoss(error: unknown): Promise<void> {
    if (error instanceof KcriError && error.code === 'STREAMING') await this.remote?.node.awaitLoss();
  }

  /** The node of the last connection if it is reached through ssh. */
  get remote(): RemoteRuntime | undefined {
    return this.#remotes.at(-1);
  }

  /** The saved node that is read instead of a running one; undefined until it is opened. */
  get saved(): SavedNode | undefined {
    return this.#saved;
  }

  /**
   * Returns the error to report for a failure: the loss of the remote node, or that a saved node has facts of another form. Its
   * file is not trusted, and only a foreign one makes functions fail that read it.
   */
  reasonOf(error: unknown): unknown {
    if (this.#loss !== undefined) return this.#loss;
    const isOfForm = error instanceof TypeError || error instanceof RangeError;
    return isOfForm && this.#saved !== undefined
      ? this.#saved.unusable('its facts have another form')
      : error;
  }

  /** Returns the local socket that leads to an address in the network of the remote node; undefined on this machine. */
  readonly forward = async ({host, port}: ForwardedAddress): Promise<string | undefined> =>
    await this.remote?.node.socketToAddress(host, port);

  /**
   * Connects to containerd's own services on the endpoint of the images or of the runtime, which may be another runtime
   * (withContainerd). Later calls return the same connection. Rejects with ConfigError without an endpoint.
   */
  async containerd(of: ContainerdEndpoint = 'images'): Promise<ContainerdConnection> {
    const existing = this.#containerd.get(of);
    if (existing !== undefined) return await existing;
    const connecting = this.#openContainerd(of);
    this.#containerd.set(of, connecting);
    return await connecting;
  }

  async #openContainerd(of: ContainerdEndpoint): Promise<ContainerdConnection> {
    const {connectContainerd} = await import('../../containerd/connect-containerd.js');
    // Connects to the node first if the runtime is on another one.
    const {endpoint} = await this.default();
    const {imageEndpoint, timeoutMs} = await this.#services.settings.read();
    const {remote} = this;
    const images = remote === undefined ? imageEndpoint : remote.imageEndpoint;
    const containerd = connectContainerd((of === 'images' ? images : undefined) ?? endpoint, {
      timeoutMs,
      ...(remote && {resolveSocket: remote.resolveSocket, explain: remote.explain}),
    });
    this.#open.push(containerd);
    return containerd;
  }

  async #connect(endpoint: string, options: ConnectOptions): Promise<Connection> {
    if (endpoint.startsWith('ssh:')) {
      const remote = await this.#openRemote(endpoint, options.imageEndpoint);
      const {resolveSocket, explain, imageEndpoint} = remote;
      return await this.#dial(remote.endpoint, {...options, imageEndpoint, resolveSocket, explain});
    }
    const file = archiveFile(endpoint);
    if (file !== undefined) return await this.#openSaved(endpoint, file);
    return await this.#dial(endpoint, options);
  }

  /** Opens a saved node, and says once which one and what it lacks. */
  async #openSaved(endpoint: string, file: string): Promise<Connection> {
    const node = await this.#services.openArchive(file);
    const [{recordedTransport}, {answersOf}] = await Promise.all([
      import('../../cri/recorded-transport.js'),
      import('../archive/recorded-runtime.js'),
    ]);
    if (this.#saved === undefined) this.#services.report.info(node.summary);
    this.#saved = node;
    const transport = recordedTransport(endpoint, node.path, answersOf(node));
    return await this.#dial(endpoint, {imageEndpoint: endpoint, transport});
  }

  async #openRemote(endpoint: string, imageEndpoint: string | undefined): Promise<RemoteRuntime> {
    const {openRemoteRuntime} = await import('../remote/open-remote-runtime.js');
    const remote = await openRemoteRuntime(this.#services, {endpoint, imageEndpoint});
    this.#remotes.push(remote);
    const {lost} = remote.node;
    onAbort(lost, () => {
      this.#loss ??= lost.reason;
      this.#services.end(lost.reason);
    });
    return remote;
  }

  async #dial(endpoint: string, options: ConnectOptions): Promise<Connection> {
    const {connect} = await import('../../cri/index.js');
    const {out, report, settings} = this.#services;
    const {timeoutMs, maxRetries} = await settings.read();
    const connection = connect(endpoint, {
      timeoutMs,
      maxRetries,
      onRetry: (error, attempt, delayMs) => {
        if (out.stderr.isTerminal) report.info(`kcri: ${formatRetryMessage(error, attempt, delayMs)}`);
      },
      ...options,
      observers: [...(await this.#services.callObservers()), ...(options.observers ?? [])],
    });
    this.#open.push(connection);
    return connection;
  }

  /** Closes the connections of a part of the run together with these, unless they are closed before. */
  closeWith(part: RuntimeConnections): void {
    this.#parts.add(part);
  }

  /** Closes the connections of a part of the run. */
  async closePart(part: RuntimeConnections): Promise<void> {
    await part.close();
    this.#parts.delete(part);
  }

  /** Closes all connections. Resolves when those through ssh have left nothing behind. */
  async close(): Promise<void> {
    for (const connection of this.#open) connection.close();
    const closing = [...this.#parts, ...this.#remotes.map(({node}) => node)];
    await Promise.all(
      closing.map(async (each) => {
        await each.close();
      }),
    );
  }
}

/** Reports whether the configured endpoint is the socket of a recorder of the runtime at another one. */
async function isRecorderOf(configured: string, runtime: string): Promise<boolean> {
  if (configured === runtime || !runtime.startsWith('unix:')) return false;
  const {canonicalEndpoint, connectedEndpoint} = await import('../../cri/endpoint.js');
  const behind = await canonicalEndpoint(configured);
  return behind === (await canonicalEndpoint(runtime)) && behind !== (await connectedEndpoint(configured));
}
