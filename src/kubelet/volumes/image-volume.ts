import type {ImageVolumeSource} from '../../api/v1-volumes.js';
import type {VolumePlugin} from './volume-plugin.js';

/** The content of an image, which the runtime itself mounts: nothing of it is on the node's file system (image plugin). */
export const imageVolume: VolumePlugin<ImageVolumeSource> = {
  readOnly: true,
  path: () => '',
  setUp: async () => undefined,
};
