// A kubelet on an accelerated clock that reports its cost to its parent. Forked by scale-node.mjs.
import {monitorEventLoopDelay} from 'node:perf_hooks';
import {connect} from '../../../dist/cri/index.js';
import {readNode, Kubelet, openPodSources} from '../../../dist/kubelet/index.js';
import {NO_METRICS} from '../../../dist/kubelet/contract/kubelet-metrics.js';
import {acceleratedClock} from './accelerated-clock.mjs';

const {endpoint, rootDir, podLogsDir, manifestsDir, origin, factor, eventedPleg, watchesDelay} = JSON.parse(
  process.argv[2],
);
const clock = acceleratedClock(origin, factor);
const connection = connect(endpoint);
const end = new AbortController();
const described = await readNode(
  connection,
  {rootDir, podLogsDir, cgroupDriver: 'cgroupfs', resolvConf: '', nodeName: 'scale'},
  {clock, signal: end.signal},
);
const errors = new Map();
const counts = {syncs: 0, relists: 0};
let sink;
const sourceOptions = {
  manifestPath: manifestsDir,
  fileCheckFrequencyMs: {current: 20_000},
  httpCheckFrequencyMs: {current: 20_000},
  nodeName: described.node.nodeName,
  clock,
};
const logger = {
  info: () => undefined,
  error: (error, message) => errors.set(message, (errors.get(message) ?? 0) + 1),
};
const kubelet = new Kubelet({
  // The pods are admitted on a machine of any size.
  node: {...described, node: {...described.node, maxPods: 1000}},
  runtime: connection.runtime,
  openSources: (configSink) => openPodSources(sourceOptions, (sink = configSink)),
  logger: {forFile: () => logger},
  clock,
  syncFrequencyMs: {current: 60_000},
  admission: true,
  eventedPleg,
  stopPodsOnExit: false,
  hide: () => undefined,
  metrics: {
    ...NO_METRICS,
    worked: () => {
      counts.syncs += 1;
    },
    pleg: ({kind}) => {
      if (kind === 'relisted') counts.relists += 1;
    },
  },
});

const delay = monitorEventLoopDelay({resolution: 5});
// It wakes up the process periodically.
if (watchesDelay) delay.enable();
let cpu = process.cpuUsage();

/** Returns the cost since the last call: delays in ms, CPU in seconds, memory in MiB. */
function cost() {
  const {user, system} = process.cpuUsage(cpu);
  cpu = process.cpuUsage();
  const ms = (nanos) => nanos / 1e6;
  const statuses = kubelet.view.pods().flatMap(({status}) => status?.containerStatuses ?? []);
  const measured = {
    cpuSeconds: (user + system) / 1e6,
    ...counts,
    delayP99: ms(delay.percentile(99)),
    delayMax: ms(delay.max),
    rss: process.memoryUsage.rss() / 1024 ** 2,
    errors: Object.fromEntries(errors),
    restarts: statuses.reduce((sum, {restartCount}) => sum + restartCount, 0),
    ready: statuses.filter(({ready}) => ready).length,
  };
  delay.reset();
  Object.assign(counts, {syncs: 0, relists: 0});
  return measured;
}

process.on('message', (message) => {
  if (message === 'sync') sink.objectsChanged([]);
  else process.send(cost());
});
process.on('disconnect', () => {
  end.abort();
});
await kubelet.run(end.signal);
connection.close();
