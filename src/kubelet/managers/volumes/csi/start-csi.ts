import type {NodeManagerServices} from '../../../contract/node-manager.js';
import {systemMounter, type Mounter} from '../mounter.js';
import {CsiDrivers} from './csi-drivers.js';
import {CsiVolumeManager} from './csi-volume-manager.js';
import {StagedVolumes} from './staged-volumes.js';

/** The CSI drivers and volumes of a daemon. */
export interface RunningCsi {
  readonly drivers: CsiDrivers;
  readonly volumes: CsiVolumeManager;
}

type Services = Pick<NodeManagerServices, 'node' | 'clock' | 'logger' | 'csiCluster' | 'nodeStatusChanged'>;

/** Lets drivers register, and releases the volumes of earlier processes that no pod uses, until the signal aborts. */
export async function startCsi(
  {node, clock, logger, csiCluster: cluster, nodeStatusChanged}: Services,
  signal: AbortSignal,
  mounter: Mounter = systemMounter,
): Promise<RunningCsi> {
  const onRegistered = (): void => {
    staged.retry();
  };
  const drivers = new CsiDrivers({cluster, logger, onRegistered, signal});
  const onChange = nodeStatusChanged;
  const staged = new StagedVolumes({node, drivers, mounter, clock, logger, onChange, signal});
  await staged.restore();
  const services = {node, drivers, staged, cluster, mounter, clock, logger};
  return {drivers, volumes: new CsiVolumeManager(services)};
}
