import type {RuntimeService} from '../../cri/index.js';
import type {NodeManagerServices} from '../contract/node-manager.js';
import type {NodeAndRuntime} from '../pods/registry/read-node.js';
import type {KubeletCore} from './kubelet-core.js';

/** Parts of the kubelet that its managers work with. */
interface NodeManagerServicesOptions extends Pick<NodeManagerServices, 'clock' | 'logger'> {
  readonly node: NodeAndRuntime;
  readonly runtime: Pick<RuntimeService, 'updateContainerResources'>;
}

/** Returns what the managers of the node work with. */
export function createNodeManagerServices(
  {node: {node}, runtime, clock, logger}: NodeManagerServicesOptions,
  {handler, pods}: Pick<KubeletCore, 'handler' | 'pods'>,
): Omit<NodeManagerServices, 'topology'> {
  return {
    ...{node, clock, logger},
    activePods: () => handler.activePods(),
    allSourcesReady: () => handler.allSourcesReady,
    runningContainers: () =>
      pods.runningContainers().map(({record, container: {name, id}}) => ({pod: record.pod, name, id})),
    updateContainer: async (containerId, linux, signal) => {
      await runtime.updateContainerResources({containerId, linux}, {signal});
    },
  };
}
