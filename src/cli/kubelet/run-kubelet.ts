import type {Connection} from '../../cri/index.js';
import {parseQuantity} from '../../api/quantity.js';
import {
  Kubelet,
  milliseconds,
  openPodSources,
  type DescribedNode,
  type KubeletConfig,
  type KubeletOptions,
} from '../../kubelet/index.js';
import type {CliContext} from '../context.js';
import type {IgnoredFlag} from './flags.js';
import {Klog} from './klog.js';
import {onHangup} from './hangup.js';
import {prepareProcess} from './prepare-process.js';
import {withServiceManager} from './service-manager.js';

/** What a kubelet is started with. */
export interface RunKubeletOptions {
  readonly config: KubeletConfig;
  readonly ignoredFlags: readonly IgnoredFlag[];
  readonly rootDir: string;
  readonly certDir: string;
  /** Connects to the runtime and describes the node. */
  readonly open: () => Promise<{readonly connection: Connection; readonly node: DescribedNode}>;
  readonly admission: boolean;
  readonly stopPodsOnExit: boolean;
  readonly context: CliContext;
  readonly mask: (text: string) => string;
  readonly hide: (texts: readonly string[]) => void;
}

/** Runs a kubelet until the signal aborts. Rejects with KcriError when it can't begin, which the log tells too. */
export async function runKubelet(options: RunKubeletOptions): Promise<void> {
  const {config, context, mask} = options;
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
    const {connection, node} = await options.open();
    const kubelet = new Kubelet(kubeletOptions(options, {connection, node, logger}));
    using _ = onHangup(() => {
      logger.info('Reading all manifests again because of SIGHUP');
      kubelet.reread();
    });
    await withServiceManager({kubelet, values, context, logger}, async () => {
      await kubelet.run(context.signal);
    });
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

interface Opened {
  readonly connection: Connection;
  readonly node: DescribedNode;
  readonly logger: Klog;
}

function kubeletOptions(
  {config, admission, stopPodsOnExit, context, hide}: RunKubeletOptions,
  {connection, node, logger}: Opened,
): KubeletOptions {
  const {values} = config;
  const {clock} = context;
  return {
    node,
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
    logRotation: {
      maxSizeBytes: Number(parseQuantity(values.containerLogMaxSize).nanos / 1_000_000_000n),
      maxFiles: values.containerLogMaxFiles,
      maxWorkers: values.containerLogMaxWorkers,
      monitorIntervalMs: milliseconds(values.containerLogMonitorInterval),
    },
    hide,
  };
}
