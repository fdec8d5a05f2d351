import type {Volume} from '../../../../api/types/v1-volumes.js';
import type {VolumePod} from './node-volume.js';
import type {PodVolumeFact} from './volume-facts.js';
import {
  claimOf,
  isClaim,
  isDirectoryKind,
  kindOfPlugin,
  kindOfVolume,
  migratedVolume,
} from './volume-kinds.js';

/** A volume of a pod as its spec and as the node has it; at least one of both. */
export interface MatchedVolume {
  readonly volume?: Volume | undefined;
  readonly fact?: PodVolumeFact | undefined;
}

/**
 * Finds out which directory is which volume of a pod. The directory of a claim has the name of the PersistentVolume, which the
 * history of the pod or of provisioned volumes (names by claims) tell; otherwise a claim and a directory that alone are left
 * belong together. If several are left, their directories stand for them. Pure.
 */
export function matchVolumes(
  pod: VolumePod,
  facts: readonly PodVolumeFact[],
  provisioned: ReadonlyMap<string, string>,
): readonly MatchedVolume[] {
  const volumes = pod.pod?.spec.volumes ?? [];
  const matches = new Map<Volume, PodVolumeFact>();
  for (const volume of volumes) {
    const fact = facts.find((each) => isDirectoryOf(each, volume, pod, provisioned));
    if (fact !== undefined) matches.set(volume, fact);
  }
  const left = (): readonly PodVolumeFact[] => {
    const taken = new Set(matches.values());
    return facts.filter((fact) => !taken.has(fact));
  };
  const persistent = left().filter(isPersistent);
  const claims = volumes.filter((volume) => !matches.has(volume) && isClaim(kindOfVolume(volume)));
  const [claim] = claims;
  const [only] = persistent;
  if (claims.length === 1 && persistent.length === 1 && claim !== undefined && only !== undefined)
    matches.set(claim, only);
  const others = left();
  const areRepresented = (volume: Volume): boolean =>
    others.filter(isPersistent).length >= claims.length && claims.includes(volume) && !matches.has(volume);
  return [
    ...volumes
      .filter((volume) => !areRepresented(volume))
      .map((volume) => ({volume, fact: matches.get(volume)})),
    ...others.map((fact) => ({fact})),
  ];
}

function isPersistent({plugin}: PodVolumeFact): boolean {
  return !isDirectoryKind(kindOfPlugin(plugin));
}

function isDirectoryOf(
  fact: PodVolumeFact,
  volume: Volume,
  pod: VolumePod,
  provisioned: ReadonlyMap<string, string>,
): boolean {
  const kind = kindOfVolume(volume);
  const migrated = migratedVolume(volume, pod);
  if (migrated !== undefined) return fact.name === migrated.directory && kindOfPlugin(fact.plugin) === 'csi';
  if (!isClaim(kind)) return fact.name === volume.name && kindOfPlugin(fact.plugin) === kind;
  const recorded = pod.histories.find(({name}) => name === volume.name)?.volume;
  return fact.name === (recorded ?? provisioned.get(claimOf(pod, volume)));
}
