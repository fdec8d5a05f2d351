import type {NodeFacts} from '../../contract/node-facts.js';
import type {PluginAttachment, PossibleNames} from '../../contract/volumes/csi-volumes.js';
import type {Mounter} from './mounter.js';
import {listAttachedDisks, listMountedDisks} from './plugins/disks/attached-disks.js';
import {fcNamesOfPlace} from './plugins/fc/fc-disk.js';
import {listAttachedFlexVolumes, listMountedFlexVolumes} from './plugins/flex/flex-paths.js';
import {iscsiNamesOfPlace} from './plugins/iscsi/iscsi-disk.js';

type RootFacts = Pick<NodeFacts, 'rootDir'>;

/** Returns the volumes of pods that controllers may have attached, except those of CSI drivers. Rejects with SystemError. */
export async function listAttachedVolumes(node: RootFacts): Promise<readonly PluginAttachment[]> {
  return [...(await listAttachedFlexVolumes(node)), ...(await listAttachedDisks(node))];
}

/**
 * Returns the names of the volumes that are mounted or mapped for all pods, except those of CSI drivers: they must not be detached.
 * Rejects with SystemError.
 */
export async function listMountedVolumes(
  node: RootFacts,
  mounter: Mounter,
): Promise<readonly PossibleNames[]> {
  const namesOf = {iscsi: iscsiNamesOfPlace, fc: fcNamesOfPlace};
  const disks = await listMountedDisks(node, mounter);
  return [
    ...(await listMountedFlexVolumes(node, mounter)),
    ...disks.map((place) => namesOf[place.kind](place)),
  ];
}
