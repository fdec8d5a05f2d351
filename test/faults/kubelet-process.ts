import {connect} from '../../src/cri/index.js';
import {SILENT_LOGGER} from '../../src/base/logger.js';
import {FakeClock} from '../fakes/fake-clock.js';
import {GOLDEN_NODE} from '../golden/golden-cases.js';
import {goldenKubeletOptions} from '../golden/drivers/golden-play-options.js';
import {createTestKubelet} from '../kubelet/daemon/create-test-kubelet.js';
import {followParent} from './lockstep-clock.js';

/** Options of the process. */
export interface KubeletProcessOptions {
  readonly caseName: string;
  readonly endpoint: string;
  readonly rootDir: string;
  readonly podLogsDir: string;
  readonly manifestsDir: string;
  readonly nowMs: number;
}

/*
 * A process with the kubelet of a golden case, on a clock that its parent moves. It starts when it receives its options
 * and ends with the kubelet or with its parent.
 */
process.once('disconnect', () => {
  process.exit();
});
process.once('message', (options: KubeletProcessOptions) => {
  const {caseName, endpoint, rootDir, podLogsDir, manifestsDir, nowMs} = options;
  const clock = new FakeClock({nowMs});
  const end = new AbortController();
  const connection = connect(endpoint);
  const kubelet = createTestKubelet({
    connection,
    endpoint,
    node: {...GOLDEN_NODE, rootDir, podLogsDir},
    clock,
    manifestsDir,
    eventedPleg: true,
    logger: SILENT_LOGGER,
    onEvent: () => undefined,
    overrides: goldenKubeletOptions(caseName),
  });
  followParent(clock);
  // Ticks are needed until it has stopped, so the parent asks and disconnects later.
  process.on('message', (message) => {
    if (message === 'stop') end.abort();
  });
  void kubelet.run(end.signal).finally(() => {
    connection.close();
    process.disconnect();
  });
});
