import {readFile} from 'node:fs/promises';
import {basename} from 'node:path';
import {isSystemCallError} from '../../../base/errors.js';
import {formatPathError} from '../../../base/system-error-message.js';
import {missingOf} from './cgroup-levels.js';
import {splitFields, type Hierarchy} from './hierarchies.js';

/** Hierarchies of cgroup v1 in which a kubelet looks for a cgroup, beside those with limits. */
const LOOKED_AT: readonly string[] = ['cpuacct', 'cpuset', 'systemd'];

/** Returns what a cgroup lacks to be limited, in the kubelet's words; undefined if it can be (cgroup managers' Validate). */
export async function findMissing(
  version: 1 | 2,
  {names, path}: {readonly names: readonly string[]; readonly path: string},
  hierarchies: readonly Hierarchy[],
): Promise<string | undefined> {
  const name = `cgroup [${names.map((part) => JSON.stringify(part)).join(' ')}]`;
  if (version === 2) return await findMissingControllers(name, path, hierarchies);
  const paths = hierarchies
    .filter((hierarchy) => !hierarchy.isOptional || LOOKED_AT.includes(basename(hierarchy.path)))
    .map((hierarchy) => hierarchy.path + path);
  const missing = missingOf(paths);
  return missing.length === 0 ? undefined : `${name} has some missing paths: ${missing.join(', ')}`;
}

async function findMissingControllers(
  name: string,
  path: string,
  [hierarchy]: readonly Hierarchy[],
): Promise<string | undefined> {
  const file = `${hierarchy?.path ?? ''}${path}/cgroup.controllers`;
  try {
    const enabled = splitFields(await readFile(file, 'utf8'));
    const missing = (hierarchy?.controllers ?? []).filter((controller) => !enabled.includes(controller));
    return missing.length === 0
      ? undefined
      : `${name} has some missing controllers: ${missing.toSorted().join(', ')}`;
  } catch (error) {
    if (!isSystemCallError(error)) throw error;
    return `could not read controllers for ${name}: ${formatPathError('open', file, error)}`;
  }
}
