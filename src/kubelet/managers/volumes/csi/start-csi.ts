import type {NodeManagerServices} from '../../../contract/node-manager.js';
import {systemMounter, type Mounter} from '../mounter.js';
import {CsiDrivers} from './csi-drivers.js';
import {CsiVolumeManager} from './csi-volume-manager.js';
import {unmountOrphanedVolumes} from './orphaned-volumes.js';
import {StagedVolumes} from './staged-volumes.js';

/** The CSI drivers and volumes of a daemon. */
export interface RunningCsi {
  readonly drivers: CsiDrivers;
  readonly volumes: CsiVolumeManager;
  /** Unmounts the volumes of orphaned pods; does nothing once that was done. Rejects like unmountOrphanedVolumes. */
  readonly unmountOrphaned: (signal: AbortSignal) => Promise<void>;
}

type Services = Pick<
  NodeManagerServices,
  | 'node'
  | 'clock'
  | 'logger'
  | 'csiCluster'
  | 'nodeStatusChanged'
  | 'allSourcesReady'
  | 'readRunning'
  | 'hasPod'
>;

/** Lets drivers register, and releases the volumes of earlier processes that no pod uses, until the signal aborts. */
export async function startCsi(
  manager: Services,
  signal: AbortSignal,
  mounter: Mounter = systemMounter,
): Promise<RunningCsi> {
  const {drivers, staged, volumes} = createCsi(manager, signal, mounter);
  await staged.restore();
  let isDone = false;
  const unmountOrphaned = async (during: AbortSignal): Promise<void> => {
    isDone ||= await unmountOrphanedVolumes(manager, volumes, during);
  };
  return {drivers, volumes, unmountOrphaned};
}

/** Creates the parts for the CSI drivers of a process. No driver is registered, and no volume known. */
export function createCsi(
  manager: Pick<Services, 'node' | 'clock' | 'logger' | 'csiCluster' | 'nodeStatusChanged'>,
  signal: AbortSignal,
  mounter: Mounter = systemMounter,
): Pick<RunningCsi, 'drivers' | 'volumes'> & {readonly staged: StagedVolumes} {
  const {node, clock, logger, csiCluster: cluster, nodeStatusChanged} = manager;
  const onRegistered = (): void => {
    staged.retry();
  };
  const drivers = new CsiDrivers({cluster, logger, onRegistered, signal});
  const onChange = nodeStatusChanged;
  const staged = new StagedVolumes({node, drivers, mounter, clock, logger, onChange, signal});
  const services = {node, drivers, staged, cluster, mounter, clock, logger};
  return {drivers, staged, volumes: new CsiVolumeManager(services)};
}
