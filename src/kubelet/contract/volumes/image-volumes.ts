import type {ImageSpec, Init} from '../../../cri/index.js';

/** Images of a pod's image volumes, as sent to the runtime, by volume name. */
export type ImageVolumes = ReadonlyMap<string, Init<ImageSpec>>;
