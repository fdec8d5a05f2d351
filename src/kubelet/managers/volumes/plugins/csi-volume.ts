import type {CSIPersistentVolumeSource} from '../../../../api/types/v1-persistent-volumes.js';
import type {VolumePlugin} from './volume-plugin.js';
import {VolumeStepError} from './volume-step-error.js';

/** Plugin for CSI volumes, whose drivers cannot register with kcri: each mount fails as with an absent driver (csi). */
export const csiVolume: VolumePlugin<CSIPersistentVolumeSource> = {
  readOnly: false,
  path: () => '',
  check: async ({source: {driver}}) => {
    throw new VolumeStepError(
      'MountVolume.MountDevice failed',
      `kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name ${driver} not found in the list of registered CSI drivers`,
    );
  },
  setUp: async () => undefined,
};
