import {SILENT_LOGGER} from '../../../src/base/logger.js';
import {connect} from '../../../src/cri/index.js';
import {GOLDEN_NODE} from '../../golden/golden-cases.js';
import {createTestKubelet} from '../../kubelet/daemon/create-test-kubelet.js';
import {KilledStep} from '../killed-step.js';
import {shortenDeadlines, timeLapseClock} from './time-lapse.js';

/** Options of the process. */
export interface VolumeProcessOptions {
  readonly endpoint: string;
  readonly rootDir: string;
  readonly podLogsDir: string;
  readonly manifestsDir: string;
  readonly devicePluginsDir: string;
  /** Start of the play's clock, in ms since the epoch. */
  readonly startMs: number;
  /** Step before which the process is killed; Infinity for none. */
  readonly step: number;
}

/*
 * A process with a kubelet whose pods have CSI volumes, unless it is killed in one of its steps. It starts when it receives its
 * options, sends its steps when it is asked, and ends with its parent.
 */
process.once('disconnect', () => {
  process.exit();
});
process.once('message', (options: VolumeProcessOptions) => {
  void run(options);
});

async function run({endpoint, manifestsDir, startMs, step, ...facts}: VolumeProcessOptions): Promise<void> {
  shortenDeadlines();
  const killed = new KilledStep(step);
  await killed.watchProcess();
  process.on('message', () => {
    killed.send();
  });
  const kubelet = createTestKubelet({
    connection: killed.watchCalls(connect(endpoint)),
    node: {...GOLDEN_NODE, ...facts},
    ...{endpoint, manifestsDir, clock: timeLapseClock(startMs)},
    eventedPleg: true,
    logger: SILENT_LOGGER,
    onEvent: () => undefined,
  });
  await kubelet.run(new AbortController().signal);
}
