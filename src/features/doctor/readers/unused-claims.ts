import {join} from 'node:path';
import {stateDirectory} from '../../../base/fs/state-directory.js';
import {isObject} from '../../../base/is-object.js';
import {stringAt, valueAt} from '../../../base/string-at.js';
import {isMissing, mapFact, valueOf, type Fact} from '../fact.js';
import type {ReleasedVolume, UnusedClaim} from '../node-snapshot.js';
import type {FileReader} from './file-reader.js';

/** Size of the largest record or volume that is read. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Reads the claims below a root directory that no pod of kcri uses: those with a directory, and those for which a command has had a
 * CSI driver create a volume. Those of a kubelet are left out, which deletes them with their manifests. Unknown if a record cannot be
 * read: its pod may use a claim.
 */
export async function readUnusedClaims(
  rootDir: string,
  node: FileReader,
): Promise<Fact<readonly UnusedClaim[]>> {
  const records = await readObjects(join(stateDirectory(rootDir), 'records'), node);
  const volumes = await readObjects(join(stateDirectory(rootDir), 'volumes'), node);
  if ('error' in records) return records;
  if ('error' in volumes) return volumes;
  const used = new Set(records.value.flatMap(claimsOf));
  const found = [
    ...(await readDirectories(join(rootDir, 'claims'), node)),
    ...volumes.value.flatMap(claimOf),
  ];
  return {value: found.filter(({claim}) => !used.has(claim))};
}

/** Reads the volumes that were retained after their claims, also those of a kubelet. Unknown if one cannot be read. */
export async function readReleasedVolumes(
  rootDir: string,
  node: FileReader,
): Promise<Fact<readonly ReleasedVolume[]>> {
  const volumes = await readObjects(join(stateDirectory(rootDir), 'volumes'), node);
  return mapFact(volumes, (all) => all.flatMap(releasedVolumeOf));
}

function releasedVolumeOf(volume: unknown): readonly ReleasedVolume[] {
  const [name, claim] = [stringAt(volume, 'name'), stringAt(volume, 'claim')];
  if (name === undefined || claim === undefined || stringAt(volume, 'state') !== 'Released') return [];
  const driver = stringAt(volume, 'request', 'driver') ?? '';
  return [{name, claim, driver, handle: stringAt(volume, 'volume', 'spec', 'csi', 'volumeHandle') ?? ''}];
}

/** Reads the JSON files of a directory; none if it does not exist. */
async function readObjects(directory: string, node: FileReader): Promise<Fact<readonly unknown[]>> {
  const names = await node.names(directory);
  if ('error' in names) return isMissing(names) ? {value: []} : names;
  const objects: unknown[] = [];
  for (const name of names.value.filter((one) => one.endsWith('.json') && !one.startsWith('.'))) {
    const text = await node.text(join(directory, name), MAX_BYTES);
    // It was removed meanwhile.
    if ('error' in text && isMissing(text)) continue;
    if ('error' in text) return text;
    try {
      objects.push(JSON.parse(text.value));
    } catch {
      return {error: `${join(directory, name)} is not valid JSON`};
    }
  }
  return {value: objects};
}

async function readDirectories(directory: string, node: FileReader): Promise<readonly UnusedClaim[]> {
  const namespaces = valueOf(await node.names(directory)) ?? [];
  const claims = await Promise.all(
    namespaces.map(async (namespace) =>
      (valueOf(await node.names(join(directory, namespace))) ?? []).map((name) => ({
        claim: `${namespace}/${name}`,
        path: join(directory, namespace, name),
      })),
    ),
  );
  return claims.flat();
}

/** Returns the claims that the pod of a record uses, as `namespace/name`; none of a removed pod. */
function claimsOf(record: unknown): readonly string[] {
  if (valueAt(record, 'removedAt') !== undefined) return [];
  const namespace = stringAt(record, 'pod', 'metadata', 'namespace') ?? 'default';
  const volumes = valueAt(record, 'pod', 'spec', 'volumes');
  return (Array.isArray(volumes) ? volumes : []).flatMap((volume: unknown) => {
    const name = stringAt(volume, 'persistentVolumeClaim', 'claimName');
    return name === undefined ? [] : [`${namespace}/${name}`];
  });
}

/** Returns the claim of a volume that a command deletes. */
function claimOf(volume: unknown): readonly UnusedClaim[] {
  const claim = stringAt(volume, 'claim');
  const driver = stringAt(volume, 'request', 'driver') ?? '';
  const isOfCommand = stringAt(volume, 'manager') === 'sync' && stringAt(volume, 'state') !== 'Released';
  if (!isObject(volume) || claim === undefined || !isOfCommand || 'ownerUid' in volume) return [];
  return [{claim, driver}];
}
