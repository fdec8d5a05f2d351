import {claimsOf, type PodRegistry, type ReclaimedVolume} from '../../kubelet/index.js';

/** Result of reclaimVolumes. */
export interface ReclaimedVolumes {
  /** One line for each volume, such as `persistentvolume "pvc-…" deleted`. */
  readonly notes: readonly string[];
  readonly errors: readonly unknown[];
}

/**
 * Has CSI drivers delete the volumes that they created for claims for which `isUnwanted` returns true, given `namespace/name`, and
 * for pods that are gone. Volumes that a pod uses stay, and so do those of a running kubelet and with the policy Retain.
 */
export async function reclaimVolumes(
  registry: Pick<PodRegistry, 'provisioner' | 'store'>,
  isUnwanted: (claim: string) => boolean,
  signal?: AbortSignal,
): Promise<ReclaimedVolumes> {
  const {records} = await registry.store.list();
  const used = new Set(
    records.filter(({removedAt}) => removedAt === undefined).flatMap(({pod}) => claimsOf(pod)),
  );
  const result = await registry.provisioner?.reclaim(
    ({claim, manager, ownerUid}) =>
      ownerUid === undefined && (manager === 'kubelet' || used.has(claim) || !isUnwanted(claim)),
    signal,
  );
  const {reclaimed = [], errors = []} = result ?? {};
  return {notes: reclaimed.map(formatReclaimed), errors};
}

/** Returns the line about a volume, such as `persistentvolume "pvc-…" of claim "default/data" deleted`. */
export function formatReclaimed({name, claim, isRetained}: ReclaimedVolume): string {
  return `persistentvolume "${name}" of claim "${claim}" ${isRetained ? 'retained' : 'deleted'}`;
}
