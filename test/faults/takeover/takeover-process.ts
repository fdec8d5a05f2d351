import {connect} from '../../../src/cri/index.js';
import {systemClock} from '../../../src/base/clock.js';
import {SILENT_LOGGER} from '../../../src/base/logger.js';
import {GOLDEN_NODE} from '../../golden/golden-cases.js';
import type {KubeletPodReport} from '../../../src/kubelet/daemon/introspection/kubelet-report.js';
import {RECORDED_NODE} from '../../golden/handover/recorded-takeover.js';
import {joinFakeCluster} from '../../kubelet/cluster/join-fake-cluster.js';
import {createTestKubelet} from '../../kubelet/daemon/create-test-kubelet.js';
import {KilledStep} from '../killed-step.js';

/** Options of the process. */
export interface TakeoverProcessOptions {
  readonly endpoint: string;
  readonly apiUrl: string;
  readonly rootDir: string;
  readonly podLogsDir: string;
  readonly manifestsDir: string;
  readonly nowMs: number;
  /** Number of pods of the node. */
  readonly pods: number;
  /** Step before which the process is killed. */
  readonly step: number;
}

const POLL_INTERVAL_MS = 50;
/** Less than what is left of the back-off of the crashing container. */
const LIMIT_MS = 8000;

/*
 * A process that takes over the pods of the recorded node and sends the steps of that, unless it is killed in one. It starts
 * when it receives its options.
 */
process.once('message', (options: TakeoverProcessOptions) => {
  void takeOver(options);
});

async function takeOver(options: TakeoverProcessOptions): Promise<void> {
  const {endpoint, rootDir, podLogsDir, manifestsDir, nowMs} = options;
  const killed = new KilledStep(options.step);
  await killed.watchProcess();
  const startedAt = systemClock.now();
  const clock = {...systemClock, now: () => nowMs + systemClock.now() - startedAt};
  const connection = killed.watchCalls(connect(endpoint));
  const node = {...GOLDEN_NODE, ...RECORDED_NODE, inCluster: true, rootDir, podLogsDir};
  const {runtime, images} = connection;
  const parts = {services: {runtime, images}, node, clock, logger: SILENT_LOGGER};
  const kubelet = createTestKubelet({
    cluster: joinFakeCluster(new URL(options.apiUrl), parts),
    ...{connection, endpoint, node, clock, manifestsDir},
    eventedPleg: false,
    logger: SILENT_LOGGER,
    onEvent: () => undefined,
  });
  void kubelet.run(new AbortController().signal);
  const isSynced = ({worker}: KubeletPodReport): boolean => worker.lastSyncAt !== undefined;
  const end = startedAt + LIMIT_MS;
  while (systemClock.now() < end && kubelet.view.report().pods.filter(isSynced).length < options.pods)
    await clock.sleep(POLL_INTERVAL_MS);
  killed.send(() => {
    process.kill(process.pid, 'SIGKILL');
  });
}
