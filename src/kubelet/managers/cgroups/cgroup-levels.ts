import {mkdir, writeFile} from 'node:fs/promises';
import {dirname} from 'node:path';
import {hasErrno, SystemError} from '../../../base/errors.js';
import {withFileErrors} from '../../../base/fs/files.js';
import {MIN_CPU_SHARES} from '../../resources/cpu-shares.js';
import type {CgroupRoot} from '../../resources/cgroup-root.js';
import {isQosCgroup} from '../../resources/pod-cgroup-parent.js';
import {cgroupValues, cpuWeightValue, type CgroupValue} from './cgroup-files.js';
import type {CreatedCgroups} from './created-cgroups.js';
import {inodeOf, readText, splitFields, writeValue, type Hierarchy} from './hierarchies.js';
import {setSliceLimits, startSlice} from './systemd-slices.js';

/** A hierarchy in which cgroups are created, and the ledger. */
export interface CreationContext {
  readonly cgroupRoot: CgroupRoot;
  readonly hierarchy: Hierarchy;
  readonly created: CreatedCgroups;
  /** Cgroups above pods that were missing and are recorded as incomplete. */
  readonly begun: readonly string[];
}

/** Returns those of the directories that do not exist. */
export function missingOf(directories: readonly string[]): readonly string[] {
  return directories.filter((directory) => inodeOf(directory) === undefined);
}

/**
 * Runs work in a hierarchy. Where the kernel allows no cgroups in an optional one, the runtime cannot create any either, and
 * there will be nothing to remove.
 */
export async function unlessReadOnly({isOptional}: Hierarchy, create: () => Promise<void>): Promise<void> {
  try {
    await create();
  } catch (error) {
    if (!(isOptional && error instanceof SystemError && hasErrno(error.cause, ...NOT_WRITABLE))) throw error;
  }
}

const NOT_WRITABLE = ['EROFS', 'EACCES', 'EPERM'] as const;

/** Creates the missing cgroups above pods, topmost first, with their limits. Rejects with SystemError. */
export async function ensureLevels(context: CreationContext, levels: readonly string[]): Promise<void> {
  for (const level of levels) await ensureLevel(context, level);
}

async function ensureLevel(
  {cgroupRoot, hierarchy, created, begun}: CreationContext,
  level: string,
): Promise<void> {
  const directory = hierarchy.path + level;
  const isMissing = begun.includes(directory) || inodeOf(directory) === undefined;
  if (isMissing) await created.begin([directory]);
  let isNew = false;
  try {
    isNew = await createCgroup(cgroupRoot, hierarchy, level);
  } finally {
    // The creation failed, or another process created it.
    if (isMissing && !isNew) await created.delete([directory]);
  }
  if (!(await created.has(directory))) return;
  if (isNew && level === cgroupRoot.allPods?.path)
    await writeLimits(hierarchy, level, cgroupValues(cgroupRoot.version, cgroupRoot.allPods.limits));
  // BestEffort pods get the CPU time that others leave (qosContainerManagerImpl setCPUCgroupConfig).
  if (isQosCgroup(level, 'besteffort'))
    await writeLimits(hierarchy, level, [cpuWeightValue(cgroupRoot.version, MIN_CPU_SHARES)]);
}

/** Creates a cgroup. Returns false if it already exists. */
export async function createCgroup(
  {version}: CgroupRoot,
  hierarchy: Hierarchy,
  path: string,
): Promise<boolean> {
  const directory = hierarchy.path + path;
  const isMissing = inodeOf(directory) === undefined;
  // systemd removes what it does not know.
  if (hierarchy.hasSlices === true && isMissing) await startSlice(path);
  if (version === 2) await enableControllers(dirname(directory), hierarchy.controllers);
  if (inodeOf(directory) !== undefined) return isMissing;
  return await withFileErrors('creating the cgroup', directory, async () => {
    try {
      await mkdir(directory, 0o755);
      return true;
    } catch (error) {
      if (hasErrno(error, 'EEXIST')) return false;
      throw error;
    }
  });
}

/** Enables controllers for the children of a cgroup (cgroup v2). */
async function enableControllers(parent: string, controllers: readonly string[]): Promise<void> {
  const file = `${parent}/cgroup.subtree_control`;
  const enabled = splitFields(await readText(file));
  const missing = controllers.filter((name) => !enabled.includes(name)).map((name) => `+${name}`);
  if (missing.length > 0) await withFileErrors('writing', file, () => writeFile(file, missing.join(' ')));
}

/** Writes the values of a hierarchy's controllers. */
export async function writeLimits(
  hierarchy: Hierarchy,
  path: string,
  values: readonly CgroupValue[],
): Promise<void> {
  const own = values.filter(({controller}) => hierarchy.controllers.includes(controller));
  if (hierarchy.hasSlices === true) await setSliceLimits(path, own);
  // systemd has no properties for some, and rounds quotas.
  for (const value of own) await writeValue(hierarchy.path + path, value);
}
