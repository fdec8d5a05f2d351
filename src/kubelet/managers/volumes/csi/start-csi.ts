import type {NodeManagerServices} from '../../../contract/node-manager.js';
import {runInBackground} from '../../../../base/async/background-work.js';
import {systemLoopDevices, type LoopDevices} from '../block/loop-devices.js';
import {systemMounter, type Mounter} from '../mounter.js';
import {CsiDrivers} from './csi-drivers.js';
import {CsiMetrics} from './csi-metrics.js';
import {CsiVolumeManager} from './csi-volume-manager.js';
import {AllocatableUpdates} from './limits/allocatable-updates.js';
import {unmountOrphanedVolumes} from './orphans/orphaned-volumes.js';
import {StagedVolumes} from './staged-volumes.js';

/** The CSI drivers and volumes of a daemon. */
export interface RunningCsi {
  readonly drivers: CsiDrivers;
  readonly volumes: CsiVolumeManager;
  readonly staged: Pick<StagedVolumes, 'idle'>;
  /** Unmounts the volumes of orphaned pods; does nothing once that was done. Rejects like unmountOrphanedVolumes. */
  readonly unmountOrphaned: (signal: AbortSignal) => Promise<void>;
}

type Services = Pick<
  NodeManagerServices,
  | 'node'
  | 'clock'
  | 'logger'
  | 'csiCluster'
  | 'metrics'
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
  loops: LoopDevices = systemLoopDevices,
): Promise<RunningCsi> {
  const {drivers, staged, limits, volumes} = createCsi(manager, signal, mounter, loops);
  await staged.restore();
  if (limits !== undefined) {
    manager.csiCluster?.limits?.onDriversChanged(() => {
      limits.changed();
    });
    runInBackground('CSI volume limits', limits.run(signal));
  }
  let isDone = false;
  const unmountOrphaned = async (during: AbortSignal): Promise<void> => {
    isDone ||= await unmountOrphanedVolumes(manager, volumes, during);
  };
  return {drivers, volumes, staged, unmountOrphaned};
}

/** The parts for the CSI drivers of a process, which nothing runs yet. */
interface CsiParts extends Pick<RunningCsi, 'drivers' | 'volumes'> {
  readonly staged: StagedVolumes;
  readonly limits: AllocatableUpdates | undefined;
}

/** Creates the parts for the CSI drivers of a process. No driver is registered, and no volume known. */
export function createCsi(
  manager: Pick<Services, 'node' | 'clock' | 'logger' | 'csiCluster' | 'nodeStatusChanged' | 'metrics'>,
  signal: AbortSignal,
  mounter: Mounter = systemMounter,
  loops: LoopDevices = systemLoopDevices,
): CsiParts {
  const {node, clock, logger, csiCluster: cluster, nodeStatusChanged} = manager;
  const metrics = new CsiMetrics(manager.metrics, clock);
  const onRegistered = (): void => {
    staged.retry();
    limits?.changed();
  };
  const onRemoved = (): void => limits?.changed();
  const drivers = new CsiDrivers({cluster, logger, metrics, onRegistered, onRemoved, signal});
  const limits = cluster?.limits && new AllocatableUpdates({cluster, drivers, clock, logger});
  const onChange = nodeStatusChanged;
  const staged = new StagedVolumes({node, drivers, metrics, mounter, clock, logger, onChange, signal});
  const services = {node, drivers, staged, cluster, limits, metrics, mounter, loops, clock, logger, signal};
  return {drivers, staged, limits, volumes: new CsiVolumeManager(services, onChange)};
}
