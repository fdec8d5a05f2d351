import type {NodeFacts} from '../../contract/node-facts.js';
import type {NodeManager} from '../../contract/node-manager.js';

/** Creates the manager that registers plugins by their sockets below the root directory of a daemon. */
export function createPluginWatcher({
  devicePluginsDir,
}: Pick<NodeFacts, 'devicePluginsDir'>): NodeManager | undefined {
  if (devicePluginsDir === undefined) return undefined;
  return {
    name: 'plugin-watcher',
    start: async (services, signal) => {
      const {startPluginWatcher} = await import('./plugin-watcher.js');
      await startPluginWatcher(services, signal);
    },
  };
}
