import type {NodeManager} from '../../../contract/node-manager.js';
import type {RunningCsi} from './start-csi.js';

/** Creates the manager of CSI drivers, which does nothing but in a daemon. */
export function createCsiManager(): NodeManager {
  let running: RunningCsi | undefined;
  return {
    name: 'csi',
    start: async (services, signal) => {
      const {startCsi} = await import('./start-csi.js');
      running = await startCsi(services, signal);
    },
    plugins: {
      type: 'CSIPlugin',
      validate: (plugin) => running?.drivers.validate(plugin),
      register: async (plugin, signal) => {
        await running?.drivers.register(plugin, signal);
      },
      deregister: (plugin) => {
        running?.drivers.deregister(plugin);
      },
    },
    get csiVolumes() {
      return running?.volumes;
    },
    volumesInUse: () => running?.volumes.volumesInUse(),
  };
}
