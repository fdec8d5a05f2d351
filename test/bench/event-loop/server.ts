import {GOLDEN_NODE} from '../../golden/golden-cases.js';
import {monitorEventLoopDelay} from 'node:perf_hooks';
import {systemClock} from '../../../src/base/clock.js';
import {SILENT_LOGGER} from '../../../src/base/logger.js';
import {connect} from '../../../src/cri/index.js';
import {KubeletMetricsRegistry} from '../../../src/kubelet/managers/metrics/kubelet-metrics-registry.js';
import {startServers} from '../../../src/kubelet/server/start-servers.js';
import {aContainerStatus, aPod} from '../../fakes/a-pod.js';

/** Options of the process. */
interface ServerProcessOptions {
  readonly directory: string;
  readonly pods: number;
}

const RESOLUTION_MS = 10;
/** The measured responses need no call. */
const NO_RUNTIME = 'unix:///nonexistent';
const LOCAL = {address: '127.0.0.1', port: 0};

/*
 * A process with the servers of a kubelet. It sends their URLs, and for each message the delays of its event loop in ms
 * and its memory in MiB since the last one.
 */
const {directory, pods: count} = JSON.parse(process.argv[2] ?? '{}') as ServerProcessOptions;
const {runtime, images} = connect(NO_RUNTIME);
const state = {running: {startedAt: '2026-01-01T00:00:00Z'}};
const pods = Array.from({length: count}, (_, index) => ({
  ...aPod(
    {containers: [{name: 'main', image: 'busybox'}]},
    {name: `web-${index}`, namespace: 'team', uid: `uid-${index}`},
  ),
  status: {
    phase: 'Running' as const,
    containerStatuses: [
      aContainerStatus({ready: true, containerID: `containerd://${index}`, state, lastState: {}}),
    ],
  },
}));
const {urls} = await startServers(
  {
    pods: () => pods,
    runningPods: () => [],
    runtimeStatus: () => {
      throw new Error('no status');
    },
    isActive: () => true,
    volumes: () => [],
    workers: () => [],
    healthChecks: [],
    get lastActiveAt() {
      return Date.now();
    },
  },
  {
    node: {...GOLDEN_NODE, nodeName: 'bench', rootDir: directory, podLogsDir: directory},
    runtime,
    images,
    clock: systemClock,
    logger: SILENT_LOGGER,
    metrics: new KubeletMetricsRegistry(systemClock, 'bench'),
    main: LOCAL,
    readOnly: LOCAL,
    health: LOCAL,
    certificate: {certDir: `${directory}/pki`, names: []},
    access: {anonymous: true},
    debuggingHandlers: true,
    systemLogHandler: false,
    systemLogQuery: false,
    profilingHandler: true,
    systemLogDir: directory,
    streamingIdleTimeoutMs: 0,
    syncFrequencyMs: 60_000,
    volumeStatsPeriodMs: 60_000,
    configuration: {},
  },
  new AbortController().signal,
);
const delays = monitorEventLoopDelay({resolution: RESOLUTION_MS});
delays.enable();
let maxMemory = 0;
setInterval(() => {
  maxMemory = Math.max(maxMemory, process.memoryUsage.rss() / 1024 ** 2);
}, RESOLUTION_MS);

/** Returns a delay beyond the resolution, in ms. */
const toMs = (nanos: number): number => Math.max(0, nanos / 1e6 - RESOLUTION_MS);

process.on('message', () => {
  process.send?.({p99: toMs(delays.percentile(99)), max: toMs(delays.max), memory: maxMemory});
  delays.reset();
  maxMemory = 0;
});
process.on('disconnect', () => {
  process.exit();
});
process.send?.(urls);
