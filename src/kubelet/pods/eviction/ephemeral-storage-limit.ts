import {longRunningContainersOf} from '../../../api/pod-containers.js';
import {addQuantities, canonicalizeQuantity, quantityValue} from '../../../api/quantity.js';
import type {Quantity} from '../../../api/types/v1-meta.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import type {PodStorageUsage} from '../../contract/pod-filesystem.js';

/** Space that a pod uses, in bytes. */
export interface EphemeralUsage extends PodStorageUsage {
  /** Writable layers by the name of the container. */
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
  const sum = (sizes: ReadonlyMap<string, bigint>): bigint => [...sizes.values()].reduce((a, b) => a + b, 0n);
  if (sum(usage.layers) + sum(usage.logs) + usage.other > quantityValue(total))
    return {
      signal: 'ephemeralpodfs.limit',
      message: `Pod ephemeral local storage usage exceeds the total limit of containers ${canonicalizeQuantity(total)}. `,
    };
  const exceeded = limits.find(
    ({name, limit}) => (usage.layers.get(name) ?? 0n) + (usage.logs.get(name) ?? 0n) > quantityValue(limit),
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
