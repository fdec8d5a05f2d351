import {longRunningContainersOf} from '../../../api/pod-containers.js';
import {addQuantities, canonicalizeQuantity, quantityValue} from '../../../api/quantity.js';
import type {Quantity} from '../../../api/types/v1-meta.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import {sumFileUsage} from '../../../base/fs/file-usage.js';
import type {PodStorageUsage} from '../../contract/pod-filesystem.js';

/** Storage that a pod uses. */
export interface EphemeralUsage extends PodStorageUsage {
  /** Bytes of the writable layers by the name of the container. */
  readonly layers: ReadonlyMap<string, bigint>;
}

/** A limit that a pod exceeds. */
export interface ExceededStorage {
  /** Name of the eviction signal in metrics. */
  readonly signal: 'ephemeralpodfs.limit' | 'ephemeralcontainerfs.limit';
  readonly message: string;
}

const RESOURCE = 'ephemeral-storage';

/** Reports whether a container of the pod has a limit of its ephemeral storage. */
export function limitsEphemeralStorage(pod: Pod): boolean {
  return limitsOf(pod).length > 0;
}

/**
 * Returns the limit of ephemeral storage that a pod or one of its containers exceeds (eviction_manager.go
 * podEphemeralStorageLimitEviction, containerEphemeralStorageLimitEviction). The limit of a pod is the sum of those of its
 * containers.
 */
export function findExceededStorage(pod: Pod, usage: EphemeralUsage): ExceededStorage | undefined {
  const limits = limitsOf(pod);
  if (limits.length === 0) return undefined;
  const total = limits.map(({limit}) => limit).reduce(addQuantities);
  const {layers, logs, volumes, hostsFile} = usage;
  const files = sumFileUsage([...logs.values(), volumes, hostsFile]).usedBytes;
  if ([...layers.values()].reduce((sum, bytes) => sum + bytes, files) > quantityValue(total))
    return {
      signal: 'ephemeralpodfs.limit',
      message: `Pod ephemeral local storage usage exceeds the total limit of containers ${canonicalizeQuantity(total)}. `,
    };
  const exceeded = limits.find(
    ({name, limit}) => (layers.get(name) ?? 0n) + (logs.get(name)?.usedBytes ?? 0n) > quantityValue(limit),
  );
  if (exceeded === undefined) return undefined;
  const {name, limit} = exceeded;
  return {
    signal: 'ephemeralcontainerfs.limit',
    message: `Container ${name} exceeded its local ephemeral storage limit "${canonicalizeQuantity(limit)}". `,
  };
}

function limitsOf(pod: Pod): readonly {readonly name: string; readonly limit: Quantity}[] {
  return longRunningContainersOf(pod).flatMap(({name, resources}) => {
    const limit = resources?.limits?.[RESOURCE];
    return limit === undefined || quantityValue(limit) === 0n ? [] : [{name, limit}];
  });
}
