import {finishesWithin} from '../../../../base/async/deadline.js';
import {isExpectedError, SystemError} from '../../../../base/errors.js';
import type {Clock} from '../../../../base/clock.js';
import {SILENT_LOGGER} from '../../../../base/logger.js';
import {findPlugins, pluginRegistry} from '../../../../plugin-api/find-plugins.js';
import type {ApiObjects} from '../../../contract/api-objects.js';
import {NO_METRICS} from '../../../contract/kubelet-metrics.js';
import type {NodeFacts} from '../../../contract/node-facts.js';
import type {
  CreatedCsiVolume,
  CsiVolume,
  CsiVolumes,
  CsiVolumeToDelete,
  CsiVolumeToExpand,
  ExpandedCsiVolume,
  ExpandOptions,
  NewCsiVolume,
} from '../../../contract/volumes/csi-volumes.js';
import type {CsiClaims} from '../../../contract/volumes/csi-cluster.js';
import type {DriverUsage} from '../../../contract/volumes/driver-usage.js';
import type {CsiDrivers} from './csi-drivers.js';
import {createManifestCsi} from './manifest-csi.js';
import {createCsi, type RunningCsi} from './start-csi.js';
import type {StagedVolumes} from './staged-volumes.js';
import {listPodCsiVolumes, readPodCsiVolume, type PodCsiVolume} from './volume-data.js';

/** Time within which a volume that no pod uses is unstaged, in ms. */
const UNSTAGE_MS = 30_000;

/** Options of {@link OnDemandCsiVolumes}. */
export interface OnDemandCsiOptions {
  readonly node: NodeFacts;
  readonly clock: Clock;
  /** Objects with the CSIDrivers and Secrets. */
  readonly objects: ApiObjects;
  /** Claims whose volumes kcri has had created. */
  readonly claims: CsiClaims;
}

type OpenCsi = Pick<RunningCsi, 'drivers' | 'volumes'> & {readonly staged: StagedVolumes};

/** Calls of drivers that a command makes. */
type OnDemandCalls = Pick<
  CsiVolumes,
  | 'mount'
  | 'expand'
  | 'measure'
  | 'unmountPod'
  | 'isRegistered'
  | 'createVolume'
  | 'expandVolume'
  | 'deleteVolume'
>;

/**
 * CSI volumes of a command that ends. Drivers do not register: each call looks them up by the sockets in `plugins_registry` of the
 * root directory, as the plugin watcher of a daemon does, without NotifyRegistrationStatus. Nothing goes on after a call.
 */
export class OnDemandCsiVolumes implements OnDemandCalls {
  readonly #options: OnDemandCsiOptions;

  constructor(options: OnDemandCsiOptions) {
    this.#options = options;
  }

  async mount(volume: CsiVolume, signal: AbortSignal, onStaged?: () => void): Promise<void> {
    await this.#open(async ({volumes}) => {
      await volumes.mount(volume, signal, onStaged);
    });
  }

  async expand(volume: CsiVolume, options: ExpandOptions): Promise<boolean> {
    return await this.#open(async ({volumes}) => await volumes.expand(volume, options));
  }

  async measure(path: string, blockName?: string): Promise<DriverUsage | undefined> {
    return await this.#open(async ({volumes}) => await volumes.measure(path, blockName));
  }

  async unmountPod(podDir: string, uid: string, signal?: AbortSignal): Promise<void> {
    const published = await listPodCsiVolumes(podDir);
    await this.#open(async ({drivers, volumes, staged}) => {
      for (const volume of published) await this.#requireDriver(volume, drivers);
      await volumes.unmountPod(podDir, uid, signal);
      const during = signal ?? new AbortController().signal;
      if (!(await finishesWithin(staged.idle(), UNSTAGE_MS, this.#options.clock, during)))
        throw new SystemError(`the CSI volumes of the pod ${uid} are unmounted, but not unstaged`, {
          hint: 'look into the log of the CSI driver, and delete the pod again',
        });
    });
  }

  async isRegistered(driver: string): Promise<boolean> {
    return await this.#open(async ({drivers}) => drivers.isRegistered(driver));
  }

  async createVolume(volume: NewCsiVolume, signal: AbortSignal): Promise<CreatedCsiVolume> {
    return await this.#open(async ({volumes}) => await volumes.createVolume(volume, signal));
  }

  async expandVolume(volume: CsiVolumeToExpand, signal: AbortSignal): Promise<ExpandedCsiVolume> {
    return await this.#open(async ({volumes}) => await volumes.expandVolume(volume, signal));
  }

  async deleteVolume(volume: CsiVolumeToDelete, signal?: AbortSignal): Promise<void> {
    await this.#open(async ({volumes}) => {
      await volumes.deleteVolume(volume, signal);
    });
  }

  /** Calls `work` with the drivers that can be found now. */
  async #open<T>(work: (csi: OpenCsi) => Promise<T>): Promise<T> {
    const {node, clock, objects, claims} = this.#options;
    const end = new AbortController();
    const services = {node, clock, logger: SILENT_LOGGER, csiCluster: createManifestCsi(objects, claims)};
    const csi = createCsi({...services, metrics: NO_METRICS, nodeStatusChanged: () => undefined}, end.signal);
    try {
      await csi.staged.findUsers();
      await registerDrivers(node, csi.drivers, end.signal);
      return await work(csi);
    } finally {
      end.abort();
    }
  }

  /** Rejects at once with SystemError if the driver of a published volume is not there; a kubelet would wait for it. */
  async #requireDriver(volume: PodCsiVolume, drivers: CsiDrivers): Promise<void> {
    const data = await readPodCsiVolume(this.#options.node, volume);
    if (data === undefined || drivers.isRegistered(data.driverName)) return;
    const registry = pluginRegistry(this.#options.node.rootDir);
    throw new SystemError(
      `cannot unmount ${JSON.stringify(volume.path)}: its CSI driver "${data.driverName}" has no socket in ${JSON.stringify(registry)}`,
      {hint: 'start the driver, and delete the pod again'},
    );
  }
}

/** Registers the CSI drivers with a socket in the directory of a root directory; those that do not answer are ignored. */
async function registerDrivers(
  {rootDir}: Pick<NodeFacts, 'rootDir'>,
  drivers: CsiDrivers,
  signal: AbortSignal,
): Promise<void> {
  const plugins = await findPlugins(pluginRegistry(rootDir), 'CSIPlugin');
  await Promise.all(
    plugins.map(async (plugin) => {
      try {
        if (drivers.validate(plugin) === undefined) await drivers.register(plugin, signal);
      } catch (error) {
        if (!isExpectedError(error)) throw error;
      }
    }),
  );
}
