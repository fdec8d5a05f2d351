import type {ImageVolumeSource} from '../../../../api/types/v1-volumes.js';
import type {VolumePlugin} from './volume-plugin.js';

/** Plugin for image volumes, which the runtime mounts; they have no path on the node (image plugin). */
export const imageVolume: VolumePlugin<ImageVolumeSource> = {
  name: 'kubernetes.io/image',
  readOnly: true,
  keepsLabels: () => true,
  path: () => '',
  setUp: async () => undefined,
};
