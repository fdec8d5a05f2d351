import type {NodeFacts} from '../../contract/node-facts.js';
import type {NodeManager} from '../../contract/node-manager.js';

/** Creates the manager that serves the pod resources API of a daemon. */
export function createPodResourcesManager({
  devicePluginsDir,
}: Pick<NodeFacts, 'devicePluginsDir'>): NodeManager | undefined {
  if (devicePluginsDir === undefined) return undefined;
  return {
    name: 'pod-resources',
    start: async (services, signal) => {
      const {servePodResources} = await import('./serve-pod-resources.js');
      await servePodResources(services, signal);
    },
  };
}
