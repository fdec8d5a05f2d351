import {setImmediate as nextTurn} from 'node:timers/promises';
import {SILENT_LOGGER} from '../../../src/base/logger.js';
import {connect} from '../../../src/cri/index.js';
import type {NodeFacts} from '../../../src/kubelet/contract/node-facts.js';
import {GOLDEN_NODE} from '../../golden/golden-cases.js';
import {createTestKubelet} from '../../kubelet/daemon/create-test-kubelet.js';
import {stallTolerantTimer} from '../../base/stall-tolerant-timer.mjs';
import {KilledStep} from '../killed-step.js';
import type {StoppedMessage} from '../step-process.js';
import {shortenDeadlines, timeLapseClock} from './time-lapse.js';

/** Options of the process. */
export interface VolumeProcessOptions extends Pick<NodeFacts, 'cgroup' | 'cgroupMount'> {
  readonly endpoint: string;
  readonly rootDir: string;
  readonly podLogsDir: string;
  readonly manifestsDir: string;
  readonly devicePluginsDir: string;
  /** Start of the play's clock, in ms since the epoch. */
  readonly startMs: number;
  /** Step before which the process is killed; null for none. */
  readonly step: number | null;
}

const CLOSED_WITHIN_MS = 5000;

/*
 * A process with a kubelet whose pods have CSI volumes, unless it is killed in one of its steps. It starts one when it receives
 * options, sends its steps when it is asked, and stops it when it is told, after which it can start another one. It ends with its
 * parent.
 */
const killed = new KilledStep();
let stopping = new AbortController();
shortenDeadlines();
const isWatched = killed.watchProcess();
process.once('disconnect', () => {
  process.exit();
});
process.on('message', (message: VolumeProcessOptions | 'steps' | 'stop') => {
  if (message === 'steps') killed.send();
  else if (message === 'stop') stopping.abort();
  else void run(message);
});

async function run({endpoint, manifestsDir, startMs, step, ...facts}: VolumeProcessOptions): Promise<void> {
  stopping = new AbortController();
  await isWatched;
  killed.begin(step ?? Infinity);
  {
    using connection = connect(endpoint);
    const kubelet = createTestKubelet({
      connection: killed.watchCalls(connection),
      node: {...GOLDEN_NODE, ...facts},
      ...{endpoint, manifestsDir, clock: timeLapseClock(startMs)},
      eventedPleg: true,
      logger: SILENT_LOGGER,
      onEvent: () => undefined,
    });
    await kubelet.run(stopping.signal).catch((error: unknown) => {
      // One that is told to stop while it starts rejects.
      if (!stopping.signal.aborted) throw error;
    });
  }
  const message: StoppedMessage = {leftResources: await findLeftResources()};
  process.send?.(message);
}

/** Returns what keeps this process running apart from its parent, after a while if there is anything. */
async function findLeftResources(): Promise<readonly string[]> {
  const left = (): readonly string[] =>
    process.getActiveResourcesInfo().filter((name) => name !== 'PipeWrap');
  const hasTimedOut = stallTolerantTimer(CLOSED_WITHIN_MS);
  while (left().length > 0 && !hasTimedOut()) await nextTurn();
  return left();
}
