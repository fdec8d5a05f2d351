import type {Pod} from '../../api/v1.js';
import type {ImageRef, ImageSpec, Init} from '../../cri/index.js';

/** The images of a pod's image volumes, as the runtime is told of them, by volume. */
export type ImageVolumes = ReadonlyMap<string, Init<ImageSpec>>;

/** What the runtime is told of the image of a volume (getImageVolumes). */
export function imageVolumeSpec(pod: Pod, reference: string, image: ImageRef): Init<ImageSpec> {
  return {image, userSpecifiedImage: reference, annotations: pod.metadata.annotations ?? {}};
}
