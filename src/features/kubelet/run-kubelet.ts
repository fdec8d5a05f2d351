import {onAbort} from '../../base/async/abort-callbacks.js';
import {runInBackground} from '../../base/async/background-work.js';
import type {CallObserver, Connection} from '../../cri/index.js';
import {messageOf} from '../../base/errors.js';
import type {FileLogger, Logger} from '../../base/logger.js';
import {
  ConnectionMetrics,
  createHostLookup,
  createNodeReport,
  Kubelet,
  KubeletMetricsRegistry,
  LiveConfig,
  liveValue,
  NodeAddresses,
  periodToMs,
  publishKubelet,
  serveReports,
  startServers,
  type ContainerGcPolicy,
  type NodeAndRuntime,
  type ServerOptions,
  type KubeletConfig,
  type KubeletReport,
  type ReportRequest,
  type ReportService,
  type RunningKubelet,
} from '../../kubelet/index.js';
import type {CliContext} from '../../cli/process/context.js';
import type {IgnoredFlag} from './ignored-flags.js';
import type {KubeconfigFlags} from './kubelet-flags.js';
import type {KubeletNodeFlags} from './kubelet-node-flags.js';
import {KlogLogger} from './klog-logger.js';
import {detailsOf} from './klog-reporter.js';
import {openAccessReviews, openCluster, openNodeApi} from './open-cluster.js';
import {logUnhandledErrors} from './log-unhandled-errors.js';
import {createKubeletOptions, createNodeSettings, devicePlugins, joinedNode} from './kubelet-options.js';
import {checkKernelSettings} from './check-kernel-settings.js';
import {limitOptimization, prepareProcess} from './prepare-process.js';
import {retryStart} from './retry-start.js';
import {createServerOptions} from './kubelet-server-options.js';
import {SystemdNotifier} from './systemd/systemd-notifier.js';
import type {KubeletTracing} from './tracing/trace-kubelet.js';
import {watchProcess} from './watch-process.js';

/** Options of {@link runKubelet}. */
export interface RunKubeletOptions extends KubeconfigFlags, KubeletNodeFlags {
  readonly config: KubeletConfig;
  /** Reads the configuration again; rejects with KcriError. */
  readonly readConfig: () => Promise<KubeletConfig>;
  readonly ignoredFlags: readonly IgnoredFlag[];
  readonly rootDir: string;
  readonly certDir: string;
  /** RBAC policy of the HTTPS server; without it, any authenticated client may do anything. */
  readonly policyFile: string | undefined;
  /** Opens the connection to the runtime. `describe` verifies it and describes the node; it can be called again. */
  readonly open: (
    observers: readonly CallObserver[],
  ) => Promise<{readonly connection: Connection; readonly describe: () => Promise<NodeAndRuntime>}>;
  readonly admission: boolean;
  readonly stopPodsOnExit: boolean;
  /** Version and flags, for /statusz and /flagz. */
  readonly program: NonNullable<ServerOptions['program']>;
  /** Policy of the container GC. */
  readonly containerGc: ContainerGcPolicy;
  readonly context: CliContext;
  /** True if the log is all that people see of an error, which then has the hint as well. */
  readonly isOnlyLog: boolean;
  readonly mask: (text: string) => string;
  /** See KubeletOptions. */
  readonly hide: (texts: readonly string[]) => void;
}

/** Default endpoint of the collector (otlptracegrpc). */
const DEFAULT_COLLECTOR = 'localhost:4317';
/** Minimum time without activity after which the sync loop is unhealthy, in ms (kubelet.go syncLoopHealthCheck). */
const MIN_LOOP_LIMIT_MS = 5 * 60_000;

/** Runs a kubelet until the signal aborts. Logs an error and rejects with KcriError if the kubelet cannot start. */
export async function runKubelet(options: RunKubeletOptions): Promise<void> {
  const {config, context, mask, certDir, policyFile} = options;
  const live = new LiveConfig(config, options.readConfig);
  const log = openLog(live, context, mask);
  const logger = log.forFile('run-kubelet.ts');
  using _unhandled = logUnhandledErrors(log);
  try {
    logStart(options, logger);
    if (config.values.protectKernelDefaults) await checkKernelSettings();
    await prepareProcess(config.values, context, log);
    using _optimization = limitOptimization();
    const connections = new ConnectionMetrics(context.clock);
    await using tracing = await startTracing(options, log);
    const watched = {observe: connections.restClient.observe, trace: tracing?.traceApiRequest};
    const observed = {...options, config: live.values, logger: log, ...watched};
    using api = await openNodeApi(observed);
    const {connection, describe} = await options.open([
      connections.operations.observer,
      ...(tracing?.observers ?? []),
    ]);
    const found = await retryStart(describe, {...context, logger});
    const addresses = await findAddresses(options, log);
    const own = {inCluster: api !== undefined, hostIps: addresses, ...devicePlugins(options)};
    const node = joinedNode(found, own, live.values);
    const observeCertificate = connections.certificates.observe;
    const joined = api && (await openCluster(api, {...observed, connection, node, observeCertificate}));
    const reviews = api === undefined ? {} : await openAccessReviews(api.server, live.values, context);
    const metrics = new KubeletMetricsRegistry(context.clock, node.node.nodeName, connections);
    using _watch = watchProcess(context, {logger: log, metrics});
    const manager = new SystemdNotifier(context.env, log, context.clock);
    const kubelet: Kubelet = new Kubelet(
      createKubeletOptions({
        ...options,
        liveConfig: live,
        connection,
        node,
        cluster: joined?.cluster,
        logger: log,
        ...{metrics, tracer: tracing?.tracer},
        onLockAcquired: async () => {
          const servers = createServerOptions(live, {
            ...{connection, node, logger: log, certDir, policyFile, reviews},
            issued: joined?.servingCertificate,
            ...{metrics, tracer: tracing?.tracer},
            program: options.program,
            clock: context.clock,
          });
          return await startServices({kubelet, manager, node, addresses, servers, ...options});
        },
      }),
    );
    using _ = reloadOnHangup({kubelet, live, manager, logger});
    await kubelet.run(context.signal);
  } catch (error) {
    if (!context.signal.aborted) logFailure(error, logger, options);
    throw error;
  } finally {
    await log.flush();
  }
}

/**
 * Starts to trace the kubelet, if its configuration has `tracing`. Also without a sampling rate: the runtime and the API server get
 * spans that are not sampled, and then do not sample their own.
 */
async function startTracing(
  {config, nodeName, context: {clock}, mask}: RunKubeletOptions,
  logger: Logger,
): Promise<KubeletTracing | undefined> {
  const {'tracing.endpoint': endpoint, 'tracing.samplingRatePerMillion': perMillion} = config.values;
  if (endpoint === undefined && perMillion === undefined) return undefined;
  const {traceKubelet} = await import('./tracing/trace-kubelet.js');
  return traceKubelet({
    ...{endpoint: endpoint ?? DEFAULT_COLLECTOR, perMillion: perMillion ?? 0},
    ...{nodeName, logger, clock, mask},
  });
}

function logFailure(
  error: unknown,
  logger: FileLogger,
  {isOnlyLog}: Pick<RunKubeletOptions, 'isOnlyLog'>,
): void {
  const details = isOnlyLog ? detailsOf(error) : {};
  logger.error(`failed to run Kubelet: ${messageOf(error)}`, 'command failed', details);
}

/** Finds the addresses of the node. A failure is logged, and does not keep the kubelet from starting. */
async function findAddresses(options: RunKubeletOptions, logger: Logger): Promise<NodeAddresses> {
  const {clock, signal} = options.context;
  const addresses = new NodeAddresses({...options, lookup: createHostLookup(clock, signal), logger});
  await addresses.tryRefresh();
  return addresses;
}

function openLog(
  live: LiveConfig,
  {stderr: stream, clock}: CliContext,
  mask: (text: string) => string,
): KlogLogger {
  return new KlogLogger({
    stream,
    clock,
    pid: process.pid,
    verbosity: liveValue(() => live.values['logging.verbosity']),
    vmodule: liveValue(() => live.values['logging.vmodule']),
    format: liveValue(() => (live.values['logging.format'] === 'json' ? 'json' : 'text')),
    mask,
  });
}

/** Logs the settings without effect, one line for each kind. */
function logStart({config, ignoredFlags, invalidNodeIps}: RunKubeletOptions, logger: FileLogger): void {
  const texts = (list: readonly {readonly field: string; readonly reason: string}[]): readonly string[] =>
    list.map(({field, reason}) => `${field}: ${reason}`);
  const {unsupported, ignored} = config;
  const ineffective = [...texts(ignored), ...ignoredFlags.map(({flag, reason}) => `${flag}: ${reason}`)];
  if (unsupported.length > 0)
    logger.info('Configuration fields are not supported', {fields: texts(unsupported)});
  if (ineffective.length > 0) logger.info('Settings have no effect', {settings: ineffective});
  if (invalidNodeIps.length > 0)
    logger.info('Could not parse some node IP(s), ignoring them', {IPs: invalidNodeIps});
}

interface ReloadOptions {
  readonly kubelet: Kubelet;
  readonly live: LiveConfig;
  readonly manager: SystemdNotifier;
  readonly logger: FileLogger;
}

/** Reloads for each SIGHUP, one after the other, until it is disposed. */
function reloadOnHangup(options: ReloadOptions): Disposable {
  let reloaded = Promise.resolve();
  return onHangup(() => {
    reloaded = reloaded.then(async () => {
      await reload(options);
    });
  });
}

/** Reloads the configuration and manifests, and logs the changed fields. */
async function reload({kubelet, live, manager, logger}: ReloadOptions): Promise<void> {
  await manager.notify('RELOADING=1');
  logger.info('Received SIGHUP, reloading configuration and manifests');
  try {
    const {applied, needRestart, ineffective} = await live.reload();
    const change = {
      ...(applied.length > 0 && {applied}),
      ...(needRestart.length > 0 && {needRestart}),
      ...(ineffective.length > 0 && {withoutEffect: ineffective}),
    };
    if (Object.keys(change).length > 0) logger.info('Configuration changed', change);
  } catch (error) {
    logger.error(error, 'Failed to reload configuration, keeping the current one');
  }
  kubelet.reread();
  await manager.notify('READY=1');
}

interface StartServicesOptions extends Pick<
  RunKubeletOptions,
  'rootDir' | 'context' | 'config' | 'mask' | 'externalCloudProvider' | 'kubeconfig'
> {
  readonly kubelet: Kubelet;
  readonly manager: SystemdNotifier;
  readonly node: NodeAndRuntime;
  readonly addresses: NodeAddresses;
  readonly servers: ServerOptions;
}

/** Starts the HTTP servers, publishes the kubelet to other kcri processes and notifies systemd. */
async function startServices({
  kubelet,
  manager,
  node,
  addresses,
  servers,
  ...options
}: StartServicesOptions): Promise<AsyncDisposable> {
  const {rootDir, context, config, mask, externalCloudProvider} = options;
  const {clock, signal} = context;
  const startedAt = new Date(clock.now()).toISOString();
  const end = new AbortController();
  const {urls, closed} = await startServers(kubelet.view, servers, end.signal);
  const self = {pid: process.pid, startedAt, endpoint: node.endpoint, urls};
  const settings = createNodeSettings(node, config.values, externalCloudProvider);
  const {logger} = servers;
  const report = (request: ReportRequest): KubeletReport => ({
    ...self,
    ...kubelet.view.report(request),
    localNode: createNodeReport(node.node, settings),
  });
  const announcement = await announce(rootDir, self, {report, mask, logger, clock}).catch(
    (error: unknown) => {
      end.abort();
      throw error;
    },
  );
  const notifyStop = (): void => {
    runInBackground('systemd notifier', manager.notify('STOPPING=1'));
  };
  onAbort(signal, notifyStop);
  // Not awaited: pods do not wait for systemd.
  runInBackground('systemd notifier', manager.notify('READY=1', `MAINPID=${process.pid}`));
  const limitMs = Math.max(2 * periodToMs(config.values.syncFrequency), MIN_LOOP_LIMIT_MS);
  const isAlive = (): boolean =>
    kubelet.view.errors().length > 0 || clock.monotonic() - kubelet.view.lastActiveAt < limitMs;
  const watchdog = manager.runWatchdog(isAlive, end.signal);
  // In a cluster, each status of the node needs the current addresses.
  const refreshMs = periodToMs(config.values.nodeStatusUpdateFrequency);
  const refreshed =
    options.kubeconfig === undefined
      ? addresses.run({clock, periodMs: refreshMs}, end.signal)
      : Promise.resolve();
  return {
    [Symbol.asyncDispose]: async () => {
      end.abort();
      await Promise.all([watchdog, refreshed, closed]);
      await announcement[Symbol.asyncDispose]();
    },
  };
}

/** Publishes the kubelet in the root directory and serves its reports, so that other kcri processes can query it. */
async function announce(
  rootDir: string,
  self: RunningKubelet,
  service: ReportService,
): Promise<AsyncDisposable> {
  const reports = await serveReports(rootDir, service);
  const published = await publishKubelet(rootDir, self).catch(async (error: unknown) => {
    await reports[Symbol.asyncDispose]();
    throw error;
  });
  return {
    [Symbol.asyncDispose]: async () => {
      try {
        await published[Symbol.asyncDispose]();
      } finally {
        await reports[Symbol.asyncDispose]();
      }
    },
  };
}

/** Calls the listener for each SIGHUP until it is disposed. Without a listener, SIGHUP terminates the process. */
function onHangup(listener: () => void): Disposable {
  process.on('SIGHUP', listener);
  return {
    [Symbol.dispose]: () => {
      process.off('SIGHUP', listener);
    },
  };
}
