import type {Clock} from '../../../src/base/clock.js';
import type {Logger} from '../../../src/base/logger.js';
import type {Connection} from '../../../src/cri/index.js';
import type {NodeFacts} from '../../../src/kubelet/contract/node-facts.js';
import {openPodSources, type PodEvent} from '../../../src/kubelet/index.js';
import {Kubelet, type KubeletOptions} from '../../../src/kubelet/daemon/kubelet.js';

/** What a test's kubelet is made from. */
export interface TestKubeletOptions {
  readonly connection: Connection;
  readonly endpoint: string;
  readonly node: NodeFacts;
  readonly clock: Clock;
  readonly manifestsDir: string;
  readonly eventedPleg: boolean;
  readonly logger: Logger;
  readonly onEvent: (event: PodEvent) => void;
  /** What is otherwise than with others. */
  readonly overrides?: Partial<KubeletOptions>;
}

/** A kubelet's own periods, in ms. */
const CHECK_FREQUENCY_MS = 20_000;
const SYNC_FREQUENCY_MS = 60_000;
/** Waits that are drawn by lot are a quarter longer: the middle of what they may be. */
const MIDDLE = 2 ** 31;

/** `kcri kubelet` with a directory of manifests, to be run by the test. */
export function aKubelet(seed: TestKubeletOptions): Kubelet {
  const {connection, endpoint, node, clock, manifestsDir, eventedPleg, logger, onEvent} = seed;
  const {runtime, images} = connection;
  const places = {
    manifestPath: manifestsDir,
    fileCheckFrequencyMs: CHECK_FREQUENCY_MS,
    httpCheckFrequencyMs: CHECK_FREQUENCY_MS,
    nodeName: node.nodeName,
    clock,
  };
  return new Kubelet({
    node: {services: {runtime, images}, endpoint, node, runtimeName: 'containerd', clock},
    runtime,
    openSources: (sink) => openPodSources(places, sink),
    logger,
    clock,
    random: () => MIDDLE,
    syncFrequencyMs: SYNC_FREQUENCY_MS,
    admission: true,
    eventedPleg,
    stopPodsOnExit: false,
    hide: () => undefined,
    onEvent,
    ...seed.overrides,
  });
}
