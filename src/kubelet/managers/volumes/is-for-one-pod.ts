import type {PersistentVolumeAccessMode} from '../../../api/types/v1-attached-volumes.js';

/** Reports whether only one pod may have a volume (ReadWriteOncePod). */
export function isForOnePod({
  accessModes = [],
}: {
  readonly accessModes?: readonly PersistentVolumeAccessMode[] | undefined;
}): boolean {
  return accessModes.length === 1 && accessModes[0] === 'ReadWriteOncePod';
}
