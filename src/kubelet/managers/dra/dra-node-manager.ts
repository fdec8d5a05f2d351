import type {Pod} from '../../../api/types/v1-pod.js';
import {messageOf, rethrowUnexpected} from '../../../base/errors.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import type {NodeManager, NodeManagerServices, PreparationFailure} from '../../contract/node-manager.js';
import {podRef} from '../../contract/pod-ref.js';
import type {RunningDraManager} from './start-dra-manager.js';

/** Period in which the claims of pods that are not active any more are released, in ms (defaultReconcilePeriod). */
const RECONCILE_PERIOD_MS = 60_000;

interface Running extends RunningDraManager {
  readonly services: NodeManagerServices;
}

/** Creates the manager of dynamic resources (DRA), which does nothing but in a daemon. */
export function createDraManager({
  devicePluginsDir,
}: Pick<NodeFacts, 'devicePluginsDir'>): NodeManager | undefined {
  if (devicePluginsDir === undefined) return undefined;
  let running: Running | undefined;
  return {
    name: 'dra',
    start: async (services, signal) => {
      const {startDraManager} = await import('./start-dra-manager.js');
      running = {...(await startDraManager(services, signal)), services};
    },
    preparePod: async (pod, signal) => running && (await prepare(running, pod, signal)),
    podStopped: async (pod) => {
      await running?.manager.unprepare(podRef(pod).uid);
    },
    reconcile: {
      periodMs: RECONCILE_PERIOD_MS,
      run: async (signal) => {
        if (running?.services.allSourcesReady() !== true) return;
        const {manager, services} = running;
        await manager.reconcile(new Set(services.activePods().map((pod) => podRef(pod).uid)), signal);
      },
    },
    containerOptions: async ({pod, container}) => ({
      cdiDevices: running?.cdiDevices(pod, container) ?? [],
    }),
    resourceStatus: (pod, container) => running?.statuses(pod, container) ?? [],
    podResources: {
      ofContainer: () => ({}),
      allocatable: () => ({}),
      claimsOf: (pod, container) => running?.claims(pod, container) ?? [],
    },
    plugins: {
      type: 'DRAPlugin',
      validate: (plugin) => running?.drivers.validate(plugin),
      register: async (plugin) => {
        running?.drivers.register(plugin);
      },
      deregister: (plugin) => {
        running?.drivers.deregister(plugin);
      },
    },
  };
}

async function prepare(
  {manager}: Running,
  pod: Pod,
  signal: AbortSignal,
): Promise<PreparationFailure | undefined> {
  try {
    await manager.prepare(pod, signal);
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    rethrowUnexpected(error);
    return {
      reason: 'FailedPrepareDynamicResources',
      message: `Failed to prepare dynamic resources: ${messageOf(error)}`,
    };
  }
}
