import type {ImageSpec, OciImage} from '../src/private-runtime/image/oci-image.js';

export declare const BUSYBOX_NAMES: readonly string[];
export declare function busyboxSpec(names?: readonly string[]): Promise<ImageSpec>;
export declare function busyboxImage(): Promise<OciImage>;
