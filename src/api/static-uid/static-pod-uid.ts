import {fnv128} from '../container-hash.js';
import {toJson, type ManifestNode} from '../decoding/manifest-node.js';
import type {Pod} from '../types/v1-pod.js';
import {dumpPod} from './dump-pod.js';

/** Returns an integer as it can be a quantity: with all its digits. */
function exactInteger(value: bigint): number | string {
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}

/**
 * Returns the UID that a kubelet gives to a static pod without one, as 32 hex digits (config/common.go applyDefaults):
 * the 128-bit FNV-1a hash of the Pod and of `origin`, its source: `host:NODEfile:PATH` or `url:URL`. `written` is the
 * Pod's manifest, because the notation of quantities and what kcri removes from exported objects are part of the hash.
 * Without it, such as for a pod of a workload, which a kubelet does not run, the UID is that of the Pod itself.
 */
export function computeStaticPodUid(
  pod: Pod,
  {origin, written}: {readonly origin: string; readonly written?: ManifestNode | undefined},
): string {
  const manifest = written === undefined ? pod : toJson(written, exactInteger);
  return fnv128(`${dumpPod(manifest)}${origin}`);
}
