import {basename, dirname} from 'node:path';
import {hasErrno, SystemError} from '../../../base/errors.js';
import {MIN_CPU_SHARES} from '../../resources/cpu-shares.js';
import type {CgroupRoot} from '../../resources/cgroup-root.js';
import {isQosCgroup} from '../../resources/pod-cgroup-parent.js';
import {cgroupValues, cpuWeightValue, type CgroupValue} from './cgroup-files.js';
import type {CreatedCgroups} from './created-cgroups.js';
import {
  inodeOf,
  makeCgroup,
  readText,
  splitFields,
  writeValue,
  writeValueInUse,
  type Hierarchy,
} from './hierarchies.js';
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
 * Returns those of the levels of a path that do not exist, topmost first, in all hierarchies. The last one exists only with those
 * above it.
 */
export function missingLevels(
  hierarchies: readonly Hierarchy[],
  levels: readonly string[],
): readonly string[] {
  return hierarchies.flatMap(({path}) =>
    missingOf(levels.slice(-1).map((level) => path + level)).length === 0
      ? []
      : missingOf(levels.map((level) => path + level)),
  );
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

/**
 * Reports whether the levels above a pod are complete in a hierarchy, so that ensureLevels has nothing to create: the last one exists,
 * no process was killed while it created one of them, and with cgroup v2 the last one has the controllers, which it has only with
 * those above it.
 */
export async function hasReadyParents(
  {cgroupRoot, hierarchy, created, begun}: CreationContext,
  levels: readonly string[],
): Promise<boolean> {
  const directories = levels.map((level) => hierarchy.path + level);
  if (directories.some((directory) => begun.includes(directory))) return false;
  if (await created.hasBegun(directories)) return false;
  const last = directories.at(-1) ?? hierarchy.path;
  return cgroupRoot.version === 1 || missingControllers(last, hierarchy).length === 0;
}

/**
 * Sets the CPU weight of the cgroup of BestEffort pods again if kcri has created it and another process has changed it: its pods get
 * the CPU time that others leave (qosContainerManagerImpl setCPUCgroupConfig).
 */
export async function keepWeight(
  {cgroupRoot, hierarchy, created}: CreationContext,
  level: string,
): Promise<void> {
  if (!isQosCgroup(level, 'besteffort')) return;
  const values = [cpuWeightValue(cgroupRoot.version, MIN_CPU_SHARES)];
  if (!hasLimits(hierarchy, level, values) && (await created.has(hierarchy.path + level)))
    await writeLimits(hierarchy, level, values);
}

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
    await writeNewLimits(hierarchy, level, cgroupValues(cgroupRoot.version, cgroupRoot.allPods.limits));
  await keepWeight(context, level);
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
  const isNewSlice = hierarchy.sliceRoot === hierarchy.path && inodeOf(directory) === undefined;
  // systemd removes what it does not know.
  if (isNewSlice) await startSlice(path, version);
  if (version === 2) enableControllers(dirname(directory), hierarchy);
  // With cgroup v1, systemd has created the cgroup in some hierarchies.
  const isNew = makeCgroup(directory) || isNewSlice;
  if (version === 1 && basename(hierarchy.path) === 'cpuset') inheritCpuset(hierarchy.path, directory);
  return isNew;
}

/**
 * Copies the CPUs and memory nodes of its parent to a cgroup that has none, which could not have processes, and first to a parent
 * that has none (cpusetCopyIfNeeded).
 */
function inheritCpuset(root: string, directory: string): void {
  const parent = dirname(directory);
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    if (readText(`${directory}/${file}`).trim() !== '') continue;
    const inherited = (): string => readText(`${parent}/${file}`).trim();
    if (inherited() === '' && parent.length > root.length) inheritCpuset(root, parent);
    const value = inherited();
    if (value !== '') writeValue(`${directory}/${file}`, value);
  }
}

/** Enables controllers for the children of a cgroup (cgroup v2). */
function enableControllers(parent: string, hierarchy: Hierarchy): void {
  const missing = missingControllers(parent, hierarchy).map((name) => `+${name}`);
  if (missing.length > 0) writeValue(subtreeControl(parent), missing.join(' '));
}

/** Returns the controllers that children of a cgroup lack (cgroup v2). */
function missingControllers(parent: string, {controllers}: Hierarchy): readonly string[] {
  const enabled = splitFields(readText(subtreeControl(parent)));
  return controllers.filter((name) => !enabled.includes(name));
}

function subtreeControl(directory: string): string {
  return `${directory}/cgroup.subtree_control`;
}

/** Reports whether a cgroup has the values of a hierarchy's controllers. */
export function hasLimits(hierarchy: Hierarchy, path: string, values: readonly CgroupValue[]): boolean {
  return values
    .filter(({controller}) => hierarchy.controllers.includes(controller))
    .every(({file, value}) => readText(`${hierarchy.path}${path}/${file}`).trim() === value);
}

/** Writes the values of a hierarchy's controllers. Rejects with SystemError. */
export async function writeLimits(
  hierarchy: Hierarchy,
  path: string,
  values: readonly CgroupValue[],
): Promise<void> {
  for (const value of await limitSlice(hierarchy, path, values))
    await writeValueInUse(hierarchy.path + path, value);
}

/** Writes the values of a hierarchy's controllers for a cgroup without processes. Rejects with SystemError. */
export async function writeNewLimits(
  hierarchy: Hierarchy,
  path: string,
  values: readonly CgroupValue[],
): Promise<void> {
  for (const {file, value} of await limitSlice(hierarchy, path, values))
    writeValue(`${hierarchy.path}${path}/${file}`, value);
}

/** Sets the limits of a slice; returns the values to write, since systemd has no properties for some. */
async function limitSlice(
  {sliceRoot, controllers}: Hierarchy,
  path: string,
  values: readonly CgroupValue[],
): Promise<readonly CgroupValue[]> {
  const requested = values.filter(({controller}) => controllers.includes(controller));
  if (sliceRoot === undefined) return requested;
  const own = roundQuotas(requested);
  await setSliceLimits(path, own);
  return own;
}
