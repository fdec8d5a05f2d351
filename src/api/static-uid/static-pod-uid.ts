import {fnv128} from '../container-hash.js';
import {dumpPod} from './dump-pod.js';

/**
 * Returns the UID that a kubelet gives to a static pod without one, as 32 hex digits (config/common.go applyDefaults):
 * the 128-bit FNV-1a hash of the Pod and of `origin`, its source: `host:NODEfile:PATH` or `url:URL`. `manifest` is the
 * JSON of the Pod as written, because the notation of quantities and absent and empty fields are part of the hash.
 */
export function computeStaticPodUid(manifest: unknown, origin: string): string {
  return fnv128(`${dumpPod(manifest)}${origin}`);
}
