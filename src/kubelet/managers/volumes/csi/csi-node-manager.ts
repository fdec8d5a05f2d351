import {compareQuantities} from '../../../../api/quantity.js';
import type {NodeFacts} from '../../../contract/node-facts.js';
import type {NodeManager} from '../../../contract/node-manager.js';
import type {PluginAttachment, PossibleNames} from '../../../contract/volumes/csi-volumes.js';
import {systemMounter, type Mounter} from '../mounter.js';
import type {OnDemandCsiOptions, OnDemandCsiVolumes} from './on-demand-csi.js';
import type {RunningCsi} from './start-csi.js';
import {listPodCsiVolumes} from './volume-data.js';

/** Period in which volumes of orphaned pods are looked for until they are unmounted, in ms: pods have started or ended then. */
const ORPHAN_PERIOD_MS = 60_000;

type RootFacts = Pick<NodeFacts, 'rootDir'>;

/** Finds volumes of other plugins that controllers attach. */
export interface FindPluginAttachments {
  /** Returns the volumes of pods that can be attached. Rejects with SystemError. */
  readonly listAttached: (node: RootFacts) => Promise<readonly PluginAttachment[]>;
  /** Returns the names of the volumes that are mounted or mapped for all pods. Rejects with SystemError. */
  readonly listMounted: (node: RootFacts, mounter: Mounter) => Promise<readonly PossibleNames[]>;
}

/** Creates the manager of CSI drivers of a daemon with which plugins can register. */
export function createCsiManager(
  {devicePluginsDir}: Pick<NodeFacts, 'devicePluginsDir'>,
  {listAttached, listMounted}: FindPluginAttachments,
): NodeManager | undefined {
  if (devicePluginsDir === undefined) return undefined;
  let running: RunningCsi | undefined;
  let mounted: () => Promise<readonly PossibleNames[]> = async () => [];
  return {
    name: 'csi',
    start: async (services) => {
      const {startCsi} = await import('./start-csi.js');
      const started = await startCsi(services, services.ended);
      const {attachments} = started.volumes;
      mounted = async () => await listMounted(services.node, systemMounter);
      if (attachments !== undefined) {
        for (const {uniqueName, podUid} of await listAttached(services.node))
          attachments.use(uniqueName, podUid);
        for (const names of await mounted()) attachments.keep(names);
      }
      running = started;
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
        await running?.volumes.attachments?.removeUnmounted(mounted);
      },
    },
    released: async () => running?.staged.idle(),
    volumesInUse: () => running?.volumes.volumesInUse(),
  };
}

/** Creates the manager of CSI volumes of a command that ends, which lets no driver register. See OnDemandCsiVolumes. */
export function createOnDemandCsiManager(options: OnDemandCsiOptions): NodeManager {
  let opened: Promise<OnDemandCsiVolumes> | undefined;
  const open = async (): Promise<OnDemandCsiVolumes> => {
    opened ??= import('./on-demand-csi.js').then(({OnDemandCsiVolumes: Csi}) => new Csi(options));
    return await opened;
  };
  return {
    name: 'csi',
    csiVolumes: {
      mount: async (...call) => {
        await (await open()).mount(...call);
      },
      // Nothing publishes again after the command.
      isRepublished: () => false,
      isAttaching: () => false,
      exceedsLimit: async () => false,
      hasMountLabel: () => false,
      expand: async (volume, options) => {
        const {size, claimSize = size} = volume.expansion ?? {};
        if (size === undefined || claimSize === undefined) return true;
        return compareQuantities(claimSize, size) >= 0 || (await (await open()).expand(volume, options));
      },
      measure: async (...call) => await (await open()).measure(...call),
      unmountPod: async (podDir, uid, signal) => {
        // Most pods have none, and need not wait for the code of drivers.
        if ((await listPodCsiVolumes(podDir)).length > 0)
          await (await open()).unmountPod(podDir, uid, signal);
      },
      isRegistered: async (driver) => await (await open()).isRegistered(driver),
      createVolume: async (...call) => await (await open()).createVolume(...call),
      expandVolume: async (...call) => await (await open()).expandVolume(...call),
      modifyVolume: async (...call) => {
        await (await open()).modifyVolume(...call);
      },
      unstageUnused: async (...call) => {
        await (await open()).unstageUnused(...call);
      },
      deleteVolume: async (...call) => {
        await (await open()).deleteVolume(...call);
      },
    },
  };
}
