import type {CallObserver, Connection, PodUid} from '../../cri/index.js';
import {parseQuantity} from '../../api/quantity.js';
import {
  Kubelet,
  milliseconds,
  openPodSources,
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
  type KubeletOptions,
  type ReportService,
  type RunningKubelet,
  type ConfigValues,
  type VerificationPolicy,
} from '../../kubelet/index.js';
import type {CliContext} from '../context.js';
import type {IgnoredFlag} from './flags.js';
import {Klog} from './klog.js';
import {onHangup} from './hangup.js';
import {prepareProcess} from './prepare-process.js';
import {serverOptions} from './server-options.js';
import {ServiceManager} from './service-manager.js';

/** What a kubelet is started with. */
export interface RunKubeletOptions {
  readonly config: KubeletConfig;
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
  /** Which dead containers stay. */
  readonly containerGc: ContainerGcPolicy;
  readonly context: CliContext;
  readonly mask: (text: string) => string;
  readonly hide: (texts: readonly string[]) => void;
}

/** A sync loop that does nothing for longer stands still (kubelet.go syncLoopHealthCheck). */
const SLOWEST_LOOP_MS = 5 * 60_000;

/** Runs a kubelet until the signal aborts. Rejects with KcriError when it can't begin, which the log tells too. */
export async function runKubelet(options: RunKubeletOptions): Promise<void> {
  const {config, context, mask, certDir, policyFile} = options;
  const {values} = config;
  const logger = new Klog({
    stream: context.stderr,
    clock: context.clock,
    pid: process.pid,
    verbosity: values['logging.verbosity'],
    format: values['logging.format'] === 'json' ? 'json' : 'text',
    mask,
  });
  try {
    logStart(options, logger);
    await prepareProcess(values, logger);
    const operations = new RuntimeOperations(context.clock);
    const {connection, node} = await options.open(operations.observer);
    const metrics = new KubeletRegistry(context.clock, node.node.nodeName, operations);
    const manager = new ServiceManager(context.env, logger, context.clock);
    const kubelet: Kubelet = new Kubelet({
      ...kubeletOptions(options, {connection, node, logger}),
      metrics,
      begun: async () => {
        const servers = serverOptions(values, {
          connection,
          node,
          logger,
          certDir,
          policyFile,
          metrics,
          clock: context.clock,
        });
        return await begin({kubelet, manager, endpoint: node.endpoint, servers, ...options});
      },
    });
    const hangup = onHangup(() => {
      logger.info('Reading all manifests again because of SIGHUP');
      kubelet.reread();
      void manager.tell('RELOADING=1').then(async () => manager.tell('READY=1'));
    });
    try {
      await kubelet.run(context.signal);
    } finally {
      hangup[Symbol.dispose]();
    }
  } finally {
    await logger.flush();
  }
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
  const published = await publishKubelet(rootDir, self);
  return {
    [Symbol.asyncDispose]: async () => {
      await published[Symbol.asyncDispose]();
      await reports[Symbol.asyncDispose]();
    },
  };
}

interface Opened {
  readonly connection: Connection;
  readonly node: DescribedNode;
  readonly logger: Klog;
}

function kubeletOptions(
  {config, admission, stopPodsOnExit, containerGc, context, hide}: RunKubeletOptions,
  {connection, node, logger}: Opened,
): KubeletOptions {
  const {values} = config;
  const {clock} = context;
  return {
    node: withPolicies(node, values),
    runtime: connection.runtime,
    openSources: (sink) =>
      openPodSources(
        {
          manifestPath: values.staticPodPath === '' ? undefined : values.staticPodPath,
          manifestUrl: values.staticPodURL === '' ? undefined : values.staticPodURL,
          manifestHeaders: values.staticPodURLHeader,
          fileCheckFrequencyMs: milliseconds(values.fileCheckFrequency),
          httpCheckFrequencyMs: milliseconds(values.httpCheckFrequency),
          nodeName: node.node.nodeName,
          clock,
        },
        sink,
      ),
    logger,
    clock,
    syncFrequencyMs: milliseconds(values.syncFrequency),
    admission,
    eventedPleg: values.featureGates['EventedPLEG'] !== false,
    stopPodsOnExit,
    images: {
      service: connection.images,
      policy: {
        highThresholdPercent: values.imageGCHighThresholdPercent,
        lowThresholdPercent: values.imageGCLowThresholdPercent,
        minAgeMs: milliseconds(values.imageMinimumGCAge),
        maxAgeMs: milliseconds(values.imageMaximumGCAge),
      },
    },
    containerGc,
    logRotation: {
      maxSizeBytes: Number(parseQuantity(values.containerLogMaxSize).nanos / 1_000_000_000n),
      maxFiles: values.containerLogMaxFiles,
      maxWorkers: values.containerLogMaxWorkers,
      monitorIntervalMs: milliseconds(values.containerLogMonitorInterval),
    },
    hide,
  };
}

/** The node with what the configuration says of images, crashing containers and the number of pods. */
function withPolicies(node: DescribedNode, values: ConfigValues): DescribedNode {
  const {maxParallelImagePulls: most, podsPerCore, maxPods} = values;
  const serialize = values.serializeImagePulls ?? (most ?? 1) < 2;
  const cores = Number(node.node.cpuMilli) / 1000;
  const kind = values.imagePullCredentialsVerificationPolicy as VerificationPolicy['kind'];
  const images = values.preloadedImagesVerificationAllowlist;
  return {
    ...node,
    node: {
      ...node.node,
      maxPods: podsPerCore === 0 ? maxPods : Math.min(maxPods, Math.trunc(podsPerCore * cores)),
    },
    imagePolicy: {
      limits: {
        maxParallelImagePulls: serialize ? 1 : (most ?? Number.POSITIVE_INFINITY),
        registryPullQps: values.registryPullQPS,
        registryBurst: values.registryBurst,
      },
      verification: kind === 'NeverVerifyAllowlistedImages' ? {kind, images} : {kind},
    },
    crashBackoffMaxMs: milliseconds(values['crashLoopBackOff.maxContainerRestartPeriod']),
  };
}
