import type {RuntimeService} from '../../cri/index.js';
import {NO_METRICS} from '../contract/kubelet-metrics.js';
import type {NodeManagerServices, OwnNodeManagerServices} from '../contract/node-manager.js';
import {CONTAINER_NAME_LABEL, POD_UID_LABEL} from '../managers/kuberuntime/config/labels.js';
import type {NodeAndRuntime} from '../pods/registry/read-node.js';
import type {KubeletCore} from './kubelet-core.js';

/** Parts of the kubelet that its managers work with. */
interface NodeManagerServicesOptions
  extends Pick<NodeManagerServices, 'clock' | 'logger'>, Partial<Pick<NodeManagerServices, 'metrics'>> {
  readonly node: NodeAndRuntime;
  readonly runtime: Pick<RuntimeService, 'updateContainerResources' | 'listContainers'>;
}

/** Returns what the managers of the node work with. */
export function createNodeManagerServices(
  {node: {node}, runtime, clock, logger, metrics = NO_METRICS}: NodeManagerServicesOptions,
  {handler, pods}: Pick<KubeletCore, 'handler' | 'pods'>,
): OwnNodeManagerServices {
  return {
    ...{node, clock, logger, metrics},
    activePods: () => handler.activePods(),
    allSourcesReady: () => handler.allSourcesReady,
    runningContainers: () =>
      pods.runningContainers().map(({record, container: {name, id}}) => ({pod: record.pod, name, id})),
    syncPods: (uids) => {
      handler.syncPods(uids);
    },
    readRunning: async (signal) => {
      const filter = {state: {state: 'CONTAINER_RUNNING'}} as const;
      const {containers} = await runtime.listContainers({filter}, {signal});
      return new Set(
        containers.map(({labels}) => `${labels[POD_UID_LABEL]}/${labels[CONTAINER_NAME_LABEL]}`),
      );
    },
    updateContainer: async (containerId, linux, signal) => {
      await runtime.updateContainerResources({containerId, linux}, {signal});
    },
  };
}
