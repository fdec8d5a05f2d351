import type {PersistentVolumeAccessMode} from '../../../api/types/v1-attached-volumes.js';
import {podRef} from '../../contract/pod-ref.js';
import type {PodVolume} from './plugins/volume-plugin.js';
import {VolumeStepError} from './volume-step-error.js';

/** Reports whether only one pod may have a volume (ReadWriteOncePod). */
export function isForOnePod({
  accessModes = [],
}: {
  readonly accessModes?: readonly PersistentVolumeAccessMode[] | undefined;
}): boolean {
  return accessModes.length === 1 && accessModes[0] === 'ReadWriteOncePod';
}

/**
 * Rejects a volume for one pod that another pod has (IsVolumeMountedElsewhere). `users` are the UIDs of the pods that have it.
 *
 * @throws VolumeStepError with the step.
 */
export function requireExclusive(volume: PodVolume<unknown>, users: readonly string[], step: string): void {
  const {uid} = podRef(volume.pod);
  if (!isForOnePod(volume) || users.every((user) => user === uid)) return;
  const message = 'volume uses the ReadWriteOncePod access mode and is already in use by another pod';
  throw new VolumeStepError(step, message);
}
