import type {Clock} from '../../base/clock.js';
import {SILENT_LOGGER} from '../../base/logger.js';
import {NO_METRICS} from '../contract/kubelet-metrics.js';
import type {NodeFacts} from '../contract/node-facts.js';
import type {NodeManagers, NodeManagerServices, OwnNodeManagerServices} from '../contract/node-manager.js';
import {createNodeManagers} from '../pods/node-managers/create-node-managers.js';
import {NodeManagerSet} from '../pods/node-managers/node-manager-set.js';

/**
 * Starts the managers of a node that answer plans, with what the kubelet of the root directory has stored. Rejects with
 * SystemError if they cannot start with it.
 */
export async function startPlannedNodeManagers(
  {
    node,
    clock,
    deviceObjects,
    isTakeover = false,
  }: Pick<NodeManagerServices, 'node' | 'clock' | 'deviceObjects' | 'isTakeover'>,
  signal: AbortSignal,
): Promise<NodeManagers> {
  const managers = new NodeManagerSet(createNodeManagers(node));
  await managers.start({...plannedServices(node, clock, signal), deviceObjects, isTakeover}, signal);
  return managers;
}

/** Returns services that change nothing. Not all pods are known, so that no assignment counts as stale. */
function plannedServices(node: NodeFacts, clock: Clock, ended: AbortSignal): OwnNodeManagerServices {
  return {
    ended,
    node,
    clock,
    isPlan: true,
    logger: SILENT_LOGGER,
    metrics: NO_METRICS,
    knownPods: () => [],
    activePods: () => [],
    allSourcesReady: () => false,
    runningContainers: () => [],
    readRunning: async () => Promise.resolve(new Set<string>()),
    updateContainer: async () => Promise.resolve(),
    syncPods: () => undefined,
    killPod: async () => Promise.resolve(),
    isFinished: () => true,
    hasPod: () => true,
    nodeEvent: () => undefined,
    nodeStatusChanged: () => undefined,
  };
}
