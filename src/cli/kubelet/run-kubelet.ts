import type {CallObserver, Connection, PodUid} from '../../cri/index.js';
import {messageOf} from '../../base/errors.js';
import {
  Kubelet,
  LiveConfig,
  milliseconds,
  publishKubelet,
  KubeletRegistry,
  RuntimeOperations,
  serveReports,
  startServers,
  type ContainerGcPolicy,
  type DescribedNode,
  type ServerOptions,
  type KubeletConfig,
  type KubeletReport,
  type ReportService,
  type RunningKubelet,
} from '../../kubelet/index.js';
import type {CliContext} from '../context.js';
import type {IgnoredFlag} from './flags.js';
import {Klog} from './klog.js';
import {onHangup} from './hangup.js';
import {kubeletOptions} from './kubelet-options.js';
import {prepareProcess} from './prepare-process.js';
import {serverOptions} from './server-options.js';
import {ServiceManager} from './service-manager.js';

/** What a kubelet is started with. */
export interface RunKubeletOptions {
  readonly config: KubeletConfig;
  /** What it would be started with now; rejects with KcriError. */
  readonly readConfig: () => Promise<KubeletConfig>;
  readonly ignoredFlags: readonly IgnoredFlag[];
  readonly rootDir: string;
  readonly certDir: string;
  /** Who may do what at the server; without it all may do all. */
  readonly policyFile: string | undefined;
  /** Connects to the runtime and describes the node. */
  readonly open: (
    observer: CallObserver,
  ) => Promise<{readonly connection: Connection; readonly node: DescribedNode}>;
  readonly admission: boolean;
  readonly stopPodsOnExit: boolean;
  /** What is shown of the program: its version, and the flags that were given. */
  readonly program: NonNullable<ServerOptions['program']>;
  /** Which dead containers stay. */
  readonly containerGc: ContainerGcPolicy;
  readonly context: CliContext;
  readonly mask: (text: string) => string;
  /** See KubeletOptions. */
  readonly hide: (texts: readonly string[]) => void;
}

/** A sync loop that does nothing for longer stands still (kubelet.go syncLoopHealthCheck). */
const SLOWEST_LOOP_MS = 5 * 60_000;

/** Runs a kubelet until the signal aborts. Rejects with KcriError when it can't begin, which the log tells too. */
export async function runKubelet(options: RunKubeletOptions): Promise<void> {
  const {config, context, mask, certDir, policyFile} = options;
  const live = new LiveConfig(config, options.readConfig);
  const logger = openLog(live, context, mask);
  try {
    logStart(options, logger);
    await prepareProcess(config.values, context.swapsFile, logger);
    const operations = new RuntimeOperations(context.clock);
    const {connection, node} = await options.open(operations.observer);
    const metrics = new KubeletRegistry(context.clock, node.node.nodeName, operations);
    const manager = new ServiceManager(context.env, logger, context.clock);
    const kubelet: Kubelet = new Kubelet(
      kubeletOptions({
        ...options,
        live,
        connection,
        node,
        logger,
        metrics,
        begun: async () => {
          const servers = serverOptions(live, {
            connection,
            node,
            logger,
            certDir,
            policyFile,
            metrics,
            program: options.program,
            clock: context.clock,
          });
          return await begin({kubelet, manager, endpoint: node.endpoint, servers, ...options});
        },
      }),
    );
    let reloaded = Promise.resolve();
    const hangup = onHangup(() => {
      reloaded = reloaded.then(async () => {
        await reload({kubelet, live, manager, logger});
      });
    });
    try {
      await kubelet.run(context.signal);
    } finally {
      hangup[Symbol.dispose]();
    }
  } catch (error) {
    if (!context.signal.aborted) logger.error(`failed to run Kubelet: ${messageOf(error)}`, 'command failed');
    throw error;
  } finally {
    await logger.flush();
  }
}

function openLog(
  live: LiveConfig,
  {stderr: stream, clock}: CliContext,
  mask: (text: string) => string,
): Klog {
  return new Klog({
    stream,
    clock,
    pid: process.pid,
    get verbosity() {
      return live.values['logging.verbosity'];
    },
    get format() {
      return live.values['logging.format'] === 'json' ? 'json' : 'text';
    },
    mask,
  });
}

/** What somebody wants and kcri doesn't do is told once, in one line each kind. */
function logStart({config, ignoredFlags}: RunKubeletOptions, logger: Klog): void {
  const texts = (list: readonly {readonly field: string; readonly reason: string}[]): readonly string[] =>
    list.map(({field, reason}) => `${field}: ${reason}`);
  const {unsupported, ignored} = config;
  const without = [...texts(ignored), ...ignoredFlags.map(({flag, reason}) => `${flag}: ${reason}`)];
  if (unsupported.length > 0)
    logger.info('Fields of the configuration are not supported', {fields: texts(unsupported)});
  if (without.length > 0) logger.info('Settings have no effect here', {settings: without});
}

interface Reloading {
  readonly kubelet: Kubelet;
  readonly live: LiveConfig;
  readonly manager: ServiceManager;
  readonly logger: Klog;
}

/** Takes up what has changed in files; what of it waits for the next start is told. */
async function reload({kubelet, live, manager, logger}: Reloading): Promise<void> {
  await manager.tell('RELOADING=1');
  logger.info('Reading all manifests again because of SIGHUP');
  try {
    const {applied, needRestart, withoutEffect} = await live.reload();
    const change = {
      ...(applied.length > 0 && {applied}),
      ...(needRestart.length > 0 && {needRestart}),
      ...(withoutEffect.length > 0 && {withoutEffect}),
    };
    if (Object.keys(change).length > 0) logger.info('The configuration has changed', change);
  } catch (error) {
    logger.error(error, 'Failed to read the configuration again, it stays as it was');
  }
  kubelet.reread();
  await manager.tell('READY=1');
}

interface Beginning extends Pick<RunKubeletOptions, 'rootDir' | 'context' | 'config' | 'mask'> {
  readonly kubelet: Kubelet;
  readonly manager: ServiceManager;
  readonly endpoint: string;
  readonly servers: ServerOptions;
}

/** Serves, and tells other kcris and systemd that there is a kubelet, until it ends. */
async function begin({kubelet, manager, endpoint, servers, ...options}: Beginning): Promise<AsyncDisposable> {
  const {rootDir, context, config, mask} = options;
  const {clock, signal} = context;
  const startedAt = new Date(clock.now()).toISOString();
  const end = new AbortController();
  const {urls, closed} = await startServers(kubelet.view, servers, end.signal);
  const self = {pid: process.pid, startedAt, endpoint, urls};
  const {logger} = servers;
  const report = (uids: readonly PodUid[] | undefined): KubeletReport => ({
    ...self,
    ...kubelet.view.report(uids),
  });
  const found = await beFound(rootDir, self, {report, mask, logger}).catch((error: unknown) => {
    end.abort();
    throw error;
  });
  signal.addEventListener('abort', () => void manager.tell('STOPPING=1'), {once: true});
  // Pods don't wait for systemd.
  void manager.tell('READY=1', `MAINPID=${process.pid}`);
  const longestMs = Math.max(2 * milliseconds(config.values.syncFrequency), SLOWEST_LOOP_MS);
  const isAlive = (): boolean =>
    kubelet.view.errors().length > 0 || clock.now() - kubelet.view.lastActiveAt < longestMs;
  const fed = manager.feedWatchdog(isAlive, end.signal);
  return {
    [Symbol.asyncDispose]: async () => {
      end.abort();
      await Promise.all([fed, closed]);
      await found[Symbol.asyncDispose]();
    },
  };
}

/** Lets other kcris find this one, who can ask it from then on. */
async function beFound(
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
