import {groupBy} from '../../../../base/by-name.js';
import type {PodVolumeFact, ProvisionedVolumeFact, StagedVolumeFact, VolumeFacts} from './volume-facts.js';

/** Volumes of a root directory by what they are looked up by. */
export interface RootIndex {
  readonly facts: VolumeFacts;
  readonly hasPod: (uid: string) => boolean;
  readonly hasClaim: (claim: string) => boolean;
  readonly volumesOf: (uid: string) => readonly PodVolumeFact[];
  /** Names of provisioned volumes by claim, without those that were released. */
  readonly provisionedNames: ReadonlyMap<string, string>;
  /** Returns the provisioned volume with the name of a PersistentVolume. */
  readonly provisioned: (name: string) => ProvisionedVolumeFact | undefined;
  /** Returns the provisioned volume that a driver has staged. */
  readonly provisionedFor: (staged: StagedVolumeFact) => ProvisionedVolumeFact | undefined;
  /** Returns what is staged of a provisioned volume. */
  readonly stagedOf: (made: ProvisionedVolumeFact) => StagedVolumeFact | undefined;
  /** Returns the staged volume that a volume of a pod comes from. */
  readonly stagedFor: (fact: PodVolumeFact) => StagedVolumeFact | undefined;
}

/** Indexes what a root directory says about volumes, so that each of many is found in constant time. Pure. */
export function indexRoot(facts: VolumeFacts): RootIndex {
  const [uids, claims] = [new Set(facts.uids), new Set(facts.claims)];
  const found = groupBy(facts.pods, ({uid}) => uid);
  const byName = new Map(facts.provisioned.map((each) => [each.name, each]));
  const byHandle = new Map(facts.provisioned.map((each) => [keyOf(each.driver, each.handle), each]));
  const staged = new Map(facts.staged.flatMap((each) => stagedKeys(each).map((key) => [key, each])));
  return {
    facts,
    hasPod: (uid) => uids.has(uid),
    hasClaim: (claim) => claims.has(claim),
    volumesOf: (uid) => found.get(uid) ?? [],
    provisionedNames: new Map(
      facts.provisioned.filter(({isReleased}) => isReleased !== true).map(({claim, name}) => [claim, name]),
    ),
    provisioned: (name) => byName.get(name),
    provisionedFor: ({data}) => data && byHandle.get(keyOf(data.driverName, data.volumeHandle)),
    stagedOf: ({driver, handle}) => staged.get(keyOf(CSI_PLUGIN, 'volume', driver, handle)),
    stagedFor: (fact) =>
      lookupKeys(fact)
        .map((key) => staged.get(key))
        .find((each) => each !== undefined),
  };
}

const CSI_PLUGIN = 'kubernetes.io/csi';

const keyOf = (...parts: readonly unknown[]): string => JSON.stringify(parts);

/** Returns the keys of a staged volume: its name if the path has it, otherwise its identity and its device. */
function stagedKeys({plugin, name, data, mount}: StagedVolumeFact): readonly string[] {
  if (name !== undefined) return [keyOf(plugin, 'name', name)];
  return [
    ...(data === undefined ? [] : [keyOf(plugin, 'volume', data.driverName, data.volumeHandle)]),
    // The volume of a pod is a bind mount of the one for all pods.
    ...(mount === undefined ? [] : [keyOf(plugin, 'device', mount.device)]),
  ];
}

/** Returns the keys of what a volume of a pod may be staged as. */
function lookupKeys({plugin, name, data, mount, isBlock}: PodVolumeFact): readonly string[] {
  const named = keyOf(plugin, 'name', name);
  if (isBlock || data === undefined)
    return mount === undefined ? [named] : [named, keyOf(plugin, 'device', mount.device)];
  if (data.volumeLifecycleMode === 'Ephemeral') return [named];
  return [named, keyOf(plugin, 'volume', data.driverName, data.volumeHandle)];
}
