import {dirname} from 'node:path';
import {abortable} from '../../../../base/async/abortable.js';
import {finishesWithin} from '../../../../base/async/deadline.js';
import {isExpectedError, messageOf, SystemError} from '../../../../base/errors.js';
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
  CsiVolumeOnNode,
  CsiVolumeToDelete,
  CsiVolumeToExpand,
  CsiVolumeToModify,
  ExpandedCsiVolume,
  ExpandOptions,
  NewCsiVolume,
} from '../../../contract/volumes/csi-volumes.js';
import type {CsiClaims} from '../../../contract/volumes/csi-cluster.js';
import type {DriverUsage} from '../../../contract/volumes/driver-usage.js';
import {requireExpansion} from './csi-controller-client.js';
import type {CsiDrivers} from './csi-drivers.js';
import {UNSTAGE_STEP} from './driver-not-registered.js';
import {createManifestCsi} from './manifest-csi.js';
import {createCsi, type RunningCsi} from './start-csi.js';
import type {StagedVolumes} from './staged-volumes.js';
import {listPodCsiVolumes, readPodCsiVolume} from './volume-data.js';

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
  | 'modifyVolume'
  | 'deleteVolume'
  | 'unstageUnused'
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
    await this.#open([volume.driver], async ({volumes}) => {
      await volumes.mount(volume, signal, onStaged);
    });
  }

  async expand(volume: CsiVolume, options: ExpandOptions): Promise<boolean> {
    return await this.#open([volume.driver], async ({volumes}) =>
      abortable(volumes.expand(volume, options), options.signal),
    );
  }

  async measure(path: string, blockName?: string): Promise<DriverUsage | undefined> {
    const data = await readPodCsiVolume(this.#options.node, {
      path: dirname(path),
      ...(blockName !== undefined && {blockName}),
    });
    const names = data === undefined ? [] : [data.driverName];
    return await this.#open(names, async ({volumes}) => await volumes.measure(path, blockName));
  }

  async unmountPod(podDir: string, uid: string, signal?: AbortSignal): Promise<void> {
    const published = await Promise.all(
      (await listPodCsiVolumes(podDir)).map(async (volume) => ({
        path: volume.path,
        driver: (await readPodCsiVolume(this.#options.node, volume))?.driverName,
      })),
    );
    const names = published.flatMap(({driver}) => driver ?? []);
    await this.#open(names, async ({drivers, volumes, staged}) => {
      for (const volume of published) this.#requireDriver(volume, drivers);
      await volumes.unmountPod(podDir, uid, signal);
      await this.#untilUnstaged(staged, `the CSI volumes of the pod ${uid} are unmounted, but`, signal);
    });
  }

  async unstageUnused(volume: CsiVolumeOnNode, signal?: AbortSignal): Promise<void> {
    await this.#open([volume.driver], async ({drivers, staged}) => {
      drivers.endpoint(volume.driver, UNSTAGE_STEP);
      staged.releaseUnused(volume);
      await this.#untilUnstaged(staged, `the CSI volume ${JSON.stringify(volume.handle)} is`, signal);
    });
  }

  /** Waits until volumes without a pod are unstaged; `what` starts the message of the error. */
  async #untilUnstaged(
    staged: StagedVolumes,
    what: string,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<void> {
    if (await finishesWithin(staged.idle(), UNSTAGE_MS, this.#options.clock, signal)) return;
    throw new SystemError(`${what} not unstaged`, {
      hint: 'look into the log of the CSI driver, and delete the pod or the claim again',
    });
  }

  async isRegistered(driver: string): Promise<boolean> {
    return await this.#open([driver], async ({drivers}) => drivers.isRegistered(driver));
  }

  async createVolume(volume: NewCsiVolume, signal: AbortSignal): Promise<CreatedCsiVolume> {
    return await this.#open([volume.driver], async ({volumes}) => await volumes.createVolume(volume, signal));
  }

  async expandVolume(volume: CsiVolumeToExpand, signal: AbortSignal): Promise<ExpandedCsiVolume> {
    return await this.#open([volume.driver], async ({volumes}) => await volumes.expandVolume(volume, signal));
  }

  async modifyVolume(volume: CsiVolumeToModify, signal: AbortSignal): Promise<void> {
    await this.#open([volume.driver], async ({volumes}) => {
      await volumes.modifyVolume(volume, signal);
    });
  }

  /** Resolves if a driver can enlarge volumes; rejects like expandVolume. Enlarges none. */
  async requireExpansion(driver: string, signal: AbortSignal): Promise<void> {
    await this.#open([driver], async ({drivers}) => {
      await requireExpansion(drivers.endpoint(driver, 'ControllerExpandVolume'), driver, signal);
    });
  }

  async deleteVolume(volume: CsiVolumeToDelete, signal?: AbortSignal): Promise<void> {
    await this.#open([volume.driver], async ({volumes}) => {
      await volumes.deleteVolume(volume, signal);
    });
  }

  /** Calls `work` with those of these drivers that can be found now; others, which may hang, are not waited for. */
  async #open<T>(names: readonly string[], work: (csi: OpenCsi) => Promise<T>): Promise<T> {
    const {node, clock, objects, claims} = this.#options;
    const end = new AbortController();
    const services = {node, clock, logger: SILENT_LOGGER, csiCluster: createManifestCsi(objects, claims)};
    const csi = createCsi({...services, metrics: NO_METRICS, nodeStatusChanged: () => undefined}, end.signal);
    try {
      await csi.staged.findUsers();
      await registerDrivers(node, names, csi.drivers, end.signal);
      return await work(csi);
    } finally {
      end.abort();
    }
  }

  /** Rejects at once with SystemError if the driver of a published volume is not there; a kubelet would wait for it. */
  #requireDriver(
    {path, driver}: {readonly path: string; readonly driver: string | undefined},
    drivers: CsiDrivers,
  ): void {
    if (driver === undefined || drivers.isRegistered(driver)) return;
    const registry = pluginRegistry(this.#options.node.rootDir);
    const why = drivers.problemOf(driver) ?? `${JSON.stringify(registry)} has no socket of it`;
    throw new SystemError(
      `cannot unmount ${JSON.stringify(path)}: its CSI driver "${driver}" cannot be called: ${why}`,
      {hint: 'start the driver, and delete the pod again'},
    );
  }
}

/**
 * Registers those of the CSI drivers that have a socket in the directory of a root directory. Why others cannot be called is noted for
 * the errors of their volumes.
 */
async function registerDrivers(
  {rootDir}: Pick<NodeFacts, 'rootDir'>,
  names: readonly string[],
  drivers: CsiDrivers,
  signal: AbortSignal,
): Promise<void> {
  const plugins = await findPlugins(pluginRegistry(rootDir), 'CSIPlugin', (path, error) => {
    drivers.noteSilence(path, messageOf(error));
  });
  await Promise.all(
    plugins
      .filter(({name}) => names.includes(name))
      .map(async (plugin) => {
        try {
          if (drivers.validate(plugin) === undefined) await drivers.register(plugin, signal);
        } catch (error) {
          if (!isExpectedError(error)) throw error;
        }
      }),
  );
}
