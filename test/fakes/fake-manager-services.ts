import {SILENT_LOGGER} from '../../src/base/logger.js';
import {NO_METRICS} from '../../src/kubelet/contract/kubelet-metrics.js';
import type {NodeManagerServices} from '../../src/kubelet/contract/node-manager.js';

/** Returns services of a node without pods, with those of the test. */
export function fakeManagerServices(
  own: Partial<NodeManagerServices> & Pick<NodeManagerServices, 'node' | 'clock'>,
): NodeManagerServices {
  return {
    logger: SILENT_LOGGER,
    metrics: NO_METRICS,
    ended: new AbortController().signal,
    knownPods: () => [],
    activePods: () => [],
    allSourcesReady: () => true,
    runningContainers: () => [],
    updateContainer: async () => undefined,
    syncPods: () => undefined,
    readRunning: async () => new Set<string>(),
    podResources: [],
    plugins: [],
    killPod: async () => undefined,
    isFinished: () => true,
    hasPod: () => false,
    nodeEvent: () => undefined,
    nodeStatusChanged: () => undefined,
    topology: [],
    ...own,
  };
}
