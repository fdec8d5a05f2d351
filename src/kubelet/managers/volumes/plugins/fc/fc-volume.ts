import type {FCVolumeSource} from '../../../../../api/types/v1-attached-volumes.js';
import {makeDirectoryPath} from '../../../../../base/fs/make-directory-path.js';
import {diskDir} from '../disks/disk-place.js';
import {createBlockDiskPlugin, createDiskPlugin, type VolumeDisk} from '../disks/disk-volume.js';
import type {PodVolume} from '../volume-plugin.js';
import {fcDiskOf, fcPlace, fcUniqueName} from './fc-disk.js';
import {findFcDisk} from './find-fc-disk.js';

/** Plugin for filesystems on Fibre Channel disks, which the SCSI hosts of the node find (fc). */
export const fcVolume = createDiskPlugin<FCVolumeSource>('fc', diskOf);

/** Plugin for Fibre Channel disks that containers get as devices. */
export const fcBlockVolume = createBlockDiskPlugin<FCVolumeSource>('fc', diskOf);

function diskOf({source}: PodVolume<FCVolumeSource>, isBlock: boolean): VolumeDisk {
  const disk = fcDiskOf(source);
  const place = fcPlace(disk, isBlock);
  return {
    place,
    uniqueName: fcUniqueName(source),
    fsType: source.fsType,
    attach: async (host, signal) => {
      // Before the search, so that the removal of another volume of the disk does not remove it.
      await makeDirectoryPath(diskDir(host.node, place), 0o750);
      return await findFcDisk(disk, host, signal);
    },
  };
}
