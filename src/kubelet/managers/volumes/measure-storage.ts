import {join} from 'node:path';
import {diskUsage} from '../../../base/fs/disk-usage.js';
import {listNames} from '../../../base/fs/files.js';
import {claimsDir, podDir} from '../../contract/node-facts.js';

/** Directory of kcri and its disk usage in bytes. */
export interface MeasuredDirectory {
  /** UID of a pod, or claim as `namespace/name`. */
  readonly name: string;
  readonly bytes: bigint;
}

/** Data of kcri's pods on this machine. */
export interface PodStorage {
  /** Directories of pods: their volumes other than claims, termination logs and hosts files. */
  readonly pods: readonly MeasuredDirectory[];
  /** Directories of PersistentVolumeClaims, which outlive pods. */
  readonly claims: readonly MeasuredDirectory[];
}

/** Limits that no real directory reaches. */
const BOUNDS = {maxBytes: 2n ** 62n, maxEntries: 10_000_000};

/** Measures the data of pods below the root directory; follows no link and enters no mount. Rejects with SystemError. */
export async function measureStorage(rootDir: string): Promise<PodStorage> {
  const node = {rootDir};
  const claims: string[] = [];
  for (const namespace of await listNames(claimsDir(node)))
    for (const name of await listNames(join(claimsDir(node), namespace))) claims.push(`${namespace}/${name}`);
  return {
    pods: await measure(await listNames(join(rootDir, 'pods')), (uid) => podDir(node, uid)),
    claims: await measure(claims, (claim) => join(claimsDir(node), claim)),
  };
}

async function measure(
  names: readonly string[],
  pathOf: (name: string) => string,
): Promise<readonly MeasuredDirectory[]> {
  const measured: MeasuredDirectory[] = [];
  for (const name of names) measured.push({name, bytes: await diskUsage(pathOf(name), BOUNDS)});
  return measured;
}
