import type {Clock} from '../../../src/base/clock.js';
import type {Logger} from '../../../src/base/logger.js';
import type {Connection} from '../../../src/cri/index.js';
import type {NodeFacts} from '../../../src/kubelet/contract/node-facts.js';
import {openPodSources, type PodEvent} from '../../../src/kubelet/index.js';
import type {JoinedCluster} from '../../../src/kubelet/cluster/index.js';
import {Kubelet} from '../../../src/kubelet/daemon/kubelet.js';
import type {KubeletOptions} from '../../../src/kubelet/daemon/kubelet-options.js';

/** Options of a test kubelet. */
export interface TestKubeletOptions {
  readonly connection: Connection;
  readonly endpoint: string;
  readonly node: NodeFacts;
  readonly clock: Clock;
  readonly manifestsDir: string;
  readonly eventedPleg: boolean;
  readonly logger: Logger;
  readonly onEvent: (event: PodEvent) => void;
  /** Cluster that the kubelet joins. */
  readonly cluster?: JoinedCluster | undefined;
  /** Options that replace the defaults of the tests. */
  readonly overrides?: Partial<KubeletOptions>;
}

/** Default periods of the kubelet, in ms. */
const CHECK_FREQUENCY_MS = 20_000;
const SYNC_FREQUENCY_MS = 60_000;
/** Lengthens all jittered waits by a quarter, the middle of their range. */
const RANDOM_MIDDLE = 2 ** 31;

/** Creates the kubelet of `kcri kubelet` with a manifest directory; the test runs it. */
export function createTestKubelet(options: TestKubeletOptions): Kubelet {
  const {connection, endpoint, node, clock, manifestsDir, eventedPleg, logger, onEvent} = options;
  const {runtime, images} = connection;
  const sourceOptions = {
    manifestPath: manifestsDir,
    api: options.cluster?.source,
    fileCheckFrequencyMs: {current: CHECK_FREQUENCY_MS},
    httpCheckFrequencyMs: {current: CHECK_FREQUENCY_MS},
    nodeName: node.nodeName,
    clock,
    rootDir: options.cluster === undefined ? node.rootDir : undefined,
  };
  return new Kubelet({
    node: {services: {runtime, images}, endpoint, node, runtimeName: 'containerd', clock},
    runtime,
    openSources: (sink) => openPodSources(sourceOptions, sink),
    logger,
    clock,
    random: () => RANDOM_MIDDLE,
    syncFrequencyMs: {current: SYNC_FREQUENCY_MS},
    admission: true,
    eventedPleg,
    stopPodsOnExit: false,
    hide: () => undefined,
    onEvent,
    cluster: options.cluster,
    ...options.overrides,
  });
}
