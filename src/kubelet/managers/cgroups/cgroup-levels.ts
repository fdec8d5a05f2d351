import {mkdir, writeFile} from 'node:fs/promises';
import {basename, dirname} from 'node:path';
import {hasErrno, SystemError} from '../../../base/errors.js';
import {withFileErrors} from '../../../base/fs/files.js';
import {MIN_CPU_SHARES} from '../../resources/cpu-shares.js';
import type {CgroupRoot} from '../../resources/cgroup-root.js';
import {isQosCgroup} from '../../resources/pod-cgroup-parent.js';
import {cgroupValues, cpuWeightValue, type CgroupValue} from './cgroup-files.js';
import type {CreatedCgroups} from './created-cgroups.js';
import {inodeOf, readText, splitFields, writeValue, type Hierarchy} from './hierarchies.js';
import {roundQuotas} from './slice-properties.js';
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

async function ensureLevel(context: CreationContext, level: string): Promise<void> {
  const {cgroupRoot, hierarchy, created, begun} = context;
  const directory = hierarchy.path + level;
  const isMissing = begun.includes(directory) || inodeOf(directory) === undefined;
  if (isMissing) await created.begin([directory]);
  let isNew = false;
  try {
    isNew = await createLevel(context, level, isMissing);
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

/**
 * Creates a cgroup above pods. Returns true for a missing one that systemd has created together with that of the first hierarchy
 * (cgroup v1).
 */
async function createLevel(
  {cgroupRoot, hierarchy, created}: CreationContext,
  level: string,
  wasMissing: boolean,
): Promise<boolean> {
  if (await createCgroup(cgroupRoot, hierarchy, level)) return true;
  const {path, sliceRoot} = hierarchy;
  if (!wasMissing || sliceRoot === undefined || sliceRoot === path) return false;
  return await created.has(sliceRoot + level);
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
  if (hierarchy.sliceRoot === hierarchy.path && isMissing) await startSlice(path, version);
  if (version === 2) await enableControllers(dirname(directory), hierarchy.controllers);
  // With cgroup v1, systemd has created the cgroup in some hierarchies.
  const isNew = inodeOf(directory) === undefined ? await makeCgroup(directory) : isMissing;
  if (version === 1 && basename(hierarchy.path) === 'cpuset') await inheritCpuset(directory);
  return isNew;
}

async function makeCgroup(directory: string): Promise<boolean> {
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

/** Copies the CPUs and memory nodes of its parent to a cgroup that has none, which could not have processes (cpusetCopyIfNeeded). */
async function inheritCpuset(directory: string): Promise<void> {
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    if ((await readText(`${directory}/${file}`)).trim() !== '') continue;
    const value = (await readText(`${dirname(directory)}/${file}`)).trim();
    if (value !== '') await writeValue(directory, {file, value});
  }
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
  const {sliceRoot, controllers} = hierarchy;
  const requested = values.filter(({controller}) => controllers.includes(controller));
  const own = sliceRoot === undefined ? requested : roundQuotas(requested);
  if (sliceRoot !== undefined) await setSliceLimits(path, own);
  // systemd has no properties for some.
  for (const value of own) await writeValue(hierarchy.path + path, value);
}
