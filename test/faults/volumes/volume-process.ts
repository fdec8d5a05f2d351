import {setImmediate as nextTurn} from 'node:timers/promises';
import {connect} from '../../../src/cri/index.js';
import type {NodeFacts} from '../../../src/kubelet/contract/node-facts.js';
import {GOLDEN_NODE} from '../../golden/golden-cases.js';
import {createTestKubelet} from '../../kubelet/daemon/create-test-kubelet.js';
import {stallTolerantTimer} from '../../base/stall-tolerant-timer.mjs';
import {KilledStep} from '../killed-step.js';
import {PendingWork} from '../pending-work.js';
import type {PendingMessage, StoppedMessage} from '../step-process.js';
import {hideProcesses, shortenDeadlines, timeLapseClock} from './time-lapse.js';

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
 * options, sends its steps and what it waits for on request, and stops it on request, after which it can start another one. It ends
 * with its parent.
 */
const killed = new KilledStep();
const pending = new PendingWork();
let stopping = new AbortController();
shortenDeadlines();
hideProcesses();
const isWatched = killed.watchProcess();
process.once('disconnect', () => {
  process.exit();
});
process.on('message', (message: VolumeProcessOptions | 'steps' | 'stop' | 'pending') => {
  if (message === 'steps') killed.send();
  else if (message === 'stop') stopping.abort();
  else if (message === 'pending') sendPending();
  else void run(message);
});

async function run({endpoint, manifestsDir, startMs, step, ...facts}: VolumeProcessOptions): Promise<void> {
  stopping = new AbortController();
  await isWatched;
  killed.begin(step ?? Infinity);
  pending.clear();
  {
    using connection = connect(endpoint);
    const kubelet = createTestKubelet({
      connection: killed.watchCalls(connection),
      node: {...GOLDEN_NODE, ...facts},
      ...{endpoint, manifestsDir, clock: pending.watchClock(timeLapseClock(startMs))},
      eventedPleg: true,
      logger: pending.logger,
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

function sendPending(): void {
  const message: PendingMessage = {pending: pending.describe(killed.running)};
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
