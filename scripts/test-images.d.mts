import type {ImageSpec} from '../src/private-runtime/image/oci-image.js';

export declare const BUSYBOX_NAMES: readonly string[];
export declare function busyboxSpec(names?: readonly string[]): Promise<ImageSpec>;
