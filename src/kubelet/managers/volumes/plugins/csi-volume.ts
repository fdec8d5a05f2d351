import type {CSIPersistentVolumeSource} from '../../../../api/types/v1-persistent-volumes.js';
import type {CSIVolumeSource} from '../../../../api/types/v1-attached-volumes.js';
import type {VolumePlugin} from './volume-plugin.js';
import {VolumeStepError} from './volume-step-error.js';

const NAME = 'kubernetes.io/csi';

/**
 * Plugin for CSI volumes of PersistentVolumes. Drivers cannot register with kcri: each mount fails as with an absent
 * driver (csi).
 */
export const csiVolume: VolumePlugin<CSIPersistentVolumeSource> = {
  name: NAME,
  driver: ({driver}) => driver,
  readOnly: false,
  path: () => '',
  check: async ({source: {driver}}) => {
    throw new VolumeStepError(
      'MountVolume.MountDevice failed',
      `kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: ${notRegistered(driver)}`,
    );
  },
  setUp: async () => undefined,
};

/** Plugin for CSI volumes in the spec of a pod, which fail like csiVolume. */
export const inlineCsiVolume: VolumePlugin<CSIVolumeSource> = {
  name: NAME,
  driver: ({driver}) => driver,
  readOnly: false,
  path: () => '',
  check: async ({source: {driver}}) => {
    throw new VolumeStepError(
      'MountVolume.SetUp failed',
      `kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: ${notRegistered(driver)}`,
    );
  },
  setUp: async () => undefined,
};

function notRegistered(driver: string): string {
  return `driver name ${driver} not found in the list of registered CSI drivers`;
}
