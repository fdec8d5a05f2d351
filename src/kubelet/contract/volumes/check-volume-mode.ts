import type {PersistentVolume} from '../../../api/types/v1-persistent-volumes.js';
import type {VolumeUses} from '../../../api/used-volumes.js';
import {SystemError} from '../../../base/errors.js';

/**
 * Requires that containers use a PersistentVolume in its mode: mounted, or as a device (createVolumeSpec).
 *
 * @throws SystemError with the kubelet's message.
 */
export function checkVolumeMode({spec}: PersistentVolume, name: string, {mounts, devices}: VolumeUses): void {
  const {volumeMode = 'Filesystem'} = spec;
  const wrong = volumeMode === 'Block' ? mounts : devices;
  if (!wrong.has(name)) return;
  const list = wrong === mounts ? 'volumeMounts' : 'volumeDevices';
  throw new SystemError(`volume ${name} has volumeMode ${volumeMode}, but is specified in ${list}`, {
    hint: 'use volumeDevices for volumes with volumeMode Block, and volumeMounts for all others',
  });
}
