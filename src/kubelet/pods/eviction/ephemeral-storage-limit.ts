import {canonicalizeQuantity, quantityValue} from '../../../api/quantity.js';
import type {Quantity} from '../../../api/types/v1-meta.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import {sumFileUsage} from '../../../base/fs/file-usage.js';
import type {PodStorageUsage} from '../../contract/pod-filesystem.js';
import {podLimits} from '../../resources/resource-amounts.js';

/** Storage that a pod uses. */
export interface EphemeralUsage extends PodStorageUsage {
  /** Bytes of the writable layers by the name of the container. */
  readonly layers: ReadonlyMap<string, bigint>;
  /** True if the layers are not on the filesystem of the root directory: then no limit of a container counts them. */
  readonly dedicatedImageFs: boolean;
}

/** A limit that a pod exceeds. */
export interface ExceededStorage {
  /** Name of the eviction signal in metrics. */
  readonly signal: 'ephemeralpodfs.limit' | 'ephemeralcontainerfs.limit';
  readonly message: string;
}

const RESOURCE = 'ephemeral-storage';

/** Reports whether the pod has a limit of its ephemeral storage. */
export function limitsEphemeralStorage(pod: Pod): boolean {
  return podLimits(pod)[RESOURCE] !== undefined;
}

/**
 * Returns the limit of ephemeral storage that a pod or one of its containers exceeds (eviction_manager.go
 * podEphemeralStorageLimitEviction, containerEphemeralStorageLimitEviction). The limit of a pod is computed from those of
 * its containers, like that of its memory, and counts all that the pod uses.
 */
export function findExceededStorage(pod: Pod, usage: EphemeralUsage): ExceededStorage | undefined {
  const total = podLimits(pod)[RESOURCE];
  if (total === undefined) return undefined;
  const {layers, logs, volumes, hostsFile, dedicatedImageFs} = usage;
  const files = sumFileUsage([...logs.values(), volumes, hostsFile]).usedBytes;
  if ([...layers.values()].reduce((sum, bytes) => sum + bytes, files) > quantityValue(total))
    return {
      signal: 'ephemeralpodfs.limit',
      message: `Pod ephemeral local storage usage exceeds the total limit of containers ${canonicalizeQuantity(total)}. `,
    };
  const exceeded = containerLimits(pod).find(({name, limit}) => {
    const layer = dedicatedImageFs ? 0n : (layers.get(name) ?? 0n);
    return layer + (logs.get(name)?.usedBytes ?? 0n) > quantityValue(limit);
  });
  if (exceeded === undefined) return undefined;
  const {name, limit} = exceeded;
  return {
    signal: 'ephemeralcontainerfs.limit',
    message: `Container ${name} exceeded its local ephemeral storage limit "${canonicalizeQuantity(limit)}". `,
  };
}

/** Returns the limits of the regular containers; those of others only count for the pod. */
function containerLimits({spec}: Pod): readonly {readonly name: string; readonly limit: Quantity}[] {
  return spec.containers.flatMap(({name, resources}) => {
    const limit = resources?.limits?.[RESOURCE];
    return limit === undefined || quantityValue(limit) === 0n ? [] : [{name, limit}];
  });
}
