import {systemClock} from '../../../src/base/clock.js';
import {SILENT_LOGGER} from '../../../src/base/logger.js';
import {connect} from '../../../src/cri/index.js';
import type {NodeFacts} from '../../../src/kubelet/contract/node-facts.js';
import {machineOfCase} from '../../golden/api/case-machines.js';
import {GOLDEN_NODE} from '../../golden/golden-cases.js';
import {createTestKubelet} from '../../kubelet/daemon/create-test-kubelet.js';
import {KilledStep} from '../killed-step.js';

/** Options of the process. */
export interface AllocationProcessOptions {
  readonly endpoint: string;
  readonly rootDir: string;
  readonly podLogsDir: string;
  readonly manifestsDir: string;
  readonly devicePluginsDir: string;
  /** Step before which the process is killed; Infinity for none. */
  readonly step: number;
}

/** A node of 16 CPUs, of which one is reserved, that gives containers CPUs and devices of their own. */
const NODE: Partial<NodeFacts> = {
  cpuMilli: 16_000n,
  machine: () => machineOfCase('big-machine'),
  cpuManager: {
    policy: 'static',
    options: {},
    reconcilePeriodMs: 200,
    reservedSystemCpus: '',
    allowsAlphaOptions: false,
    allowsBetaOptions: true,
    managesPodLevel: false,
    dropsQuota: true,
  },
  topologyManager: {policy: 'none', scope: 'container', options: {}},
  reservations: {
    total: {cpuMilli: 1000n, memoryBytes: 0n, ephemeralStorageBytes: 0n, pids: 0n},
    eviction: {memoryBytes: 0n, ephemeralStorageBytes: 0n},
    limitsPods: true,
    cgroups: [],
  },
};

/*
 * A process with a kubelet that allocates CPUs and devices, unless it is killed in one of its steps. It starts when it receives
 * its options, sends its steps when it is asked, and ends with its parent.
 */
process.once('disconnect', () => {
  process.exit();
});
process.once('message', (options: AllocationProcessOptions) => {
  void run(options);
});

async function run({endpoint, manifestsDir, step, ...facts}: AllocationProcessOptions): Promise<void> {
  const killed = new KilledStep(step);
  await killed.watchProcess();
  process.on('message', () => {
    killed.send();
  });
  const kubelet = createTestKubelet({
    connection: killed.watchCalls(connect(endpoint)),
    node: {...GOLDEN_NODE, ...NODE, ...facts},
    ...{endpoint, manifestsDir, clock: systemClock},
    eventedPleg: true,
    logger: SILENT_LOGGER,
    onEvent: () => undefined,
  });
  await kubelet.run(new AbortController().signal);
}
