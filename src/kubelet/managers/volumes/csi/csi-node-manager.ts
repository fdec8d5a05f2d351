import type {NodeFacts} from '../../../contract/node-facts.js';
import type {NodeManager} from '../../../contract/node-manager.js';
import type {RunningCsi} from './start-csi.js';

/** Period in which volumes of orphaned pods are looked for until they are unmounted, in ms: pods have started or ended then. */
const ORPHAN_PERIOD_MS = 60_000;

/** Creates the manager of CSI drivers of a daemon with which plugins can register. */
export function createCsiManager({
  devicePluginsDir,
}: Pick<NodeFacts, 'devicePluginsDir'>): NodeManager | undefined {
  if (devicePluginsDir === undefined) return undefined;
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
    reconcile: {
      periodMs: ORPHAN_PERIOD_MS,
      run: async (signal) => {
        await running?.unmountOrphaned(signal);
      },
    },
    volumesInUse: () => running?.volumes.volumesInUse(),
  };
}
