import {mkdir, readdir, readFile, rmdir, writeFile} from 'node:fs/promises';
import {basename, dirname} from 'node:path';
import type {Clock} from '../../../base/clock.js';
import {hasErrno, SystemError} from '../../../base/errors.js';
import {ifPresent, pathExists, withFileErrors} from '../../../base/fs/files.js';
import {systemErrorMessage} from '../../../base/system-error-message.js';
import {acquireLock} from '../../../base/fs/lock.js';
import {CGROUPS_LOCK} from '../../../base/fs/machine-locks.js';
import type {CgroupLimits, PodCgroup} from '../../contract/resources/cgroup-limits.js';
import type {CgroupRoot} from '../../contract/node-facts.js';
import {
  cgroupValues,
  CONTROLLERS,
  cpuWeightValue,
  parseBytes,
  parseNumber,
  parseQuota,
  USAGE_FILES,
  type CgroupValue,
} from './cgroup-files.js';
import {cpuWeightToCpuShares, MIN_CPU_SHARES} from '../../contract/resources/cpu-shares.js';
import {CreatedCgroups} from './created-cgroups.js';

/** The kernel removes an exited process from its cgroup with a short delay. */
const BUSY_TRIES = 5;
const BUSY_WAIT_MS = 100;

/** Hierarchy of one controller or, with cgroup v2, of all controllers. */
interface Hierarchy {
  readonly path: string;
  readonly controllers: readonly CgroupValue['controller'][];
}

/**
 * Creates the cgroup `path` of a pod with its limits and its missing parents, in every hierarchy that has a limit
 * (podContainerManagerImpl EnsureExists). An existing cgroup is not changed, unless its creation was interrupted. For
 * the cgroupfs driver. Rejects with SystemError.
 */
export async function ensurePodCgroup(
  cgroupRoot: CgroupRoot,
  path: string,
  limits: CgroupLimits,
): Promise<void> {
  const hierarchies = await controlledHierarchies(cgroupRoot);
  const directories = hierarchies.map(({path: root}) => root + path);
  const exist = await Promise.all(directories.map(pathExists));
  if (!exist.includes(false) && !(await new CreatedCgroups(cgroupRoot.rootDir).hasBegun(directories))) return;
  const values = cgroupValues(cgroupRoot.version, limits);
  await withLock(cgroupRoot, async (created) => {
    await created.begin(directories);
    for (const hierarchy of hierarchies) {
      for (const level of levelsOf(dirname(path))) await ensureLevel(cgroupRoot, hierarchy, level, created);
      await createCgroup(cgroupRoot, hierarchy, path);
      for (const value of values.filter(({controller}) => hierarchy.controllers.includes(controller)))
        await writeValue(hierarchy.path + path, value);
    }
    await updateBurstableWeight(cgroupRoot, hierarchies, dirname(path), created);
    await created.delete(directories);
  });
}

/**
 * Removes a pod's cgroups (those of `paths` that exist, see podCgroupParents) in every hierarchy, and their empty
 * parents that kcri has created (podContainerManagerImpl Destroy). Retries for half a second while a cgroup still has
 * processes. Rejects with SystemError that names the cgroup in use.
 */
export async function removePodCgroup(
  cgroupRoot: CgroupRoot,
  paths: readonly string[],
  clock: Clock,
): Promise<void> {
  const roots = await allHierarchies(cgroupRoot);
  for (const root of roots) for (const path of paths) await removeTree(root + path, clock);
  const hierarchies = await controlledHierarchies(cgroupRoot);
  await withLock(cgroupRoot, async (created) => {
    await created.delete(hierarchies.flatMap(({path: root}) => paths.map((path) => root + path)));
    for (const {path: root} of hierarchies)
      for (const parent of new Set(paths.map((path) => dirname(path))))
        for (const level of levelsOf(parent).toReversed()) await removeCreated(root + level, created);
    for (const path of paths) await updateBurstableWeight(cgroupRoot, hierarchies, dirname(path), created);
  });
}

/**
 * Reads the limits and memory usage of a pod's cgroup; undefined if it does not exist (podContainerManagerImpl
 * GetPodCgroupConfig). Rejects with SystemError.
 */
export async function readPodCgroup(cgroupRoot: CgroupRoot, path: string): Promise<PodCgroup | undefined> {
  const {version} = cgroupRoot;
  const hierarchies = await controlledHierarchies(cgroupRoot);
  const read = async (controller: CgroupValue['controller'], file: string): Promise<string> => {
    const root = hierarchies.find(({controllers}) => controllers.includes(controller))?.path;
    return root === undefined ? '' : await readText(`${root}${path}/${file}`);
  };
  const {shares: sharesFile, limit, usage} = USAGE_FILES[version];
  const weight = parseNumber(await read('cpu', sharesFile));
  if (weight === undefined) return undefined;
  const quotas = version === 2 ? ['cpu.max'] : ['cpu.cfs_quota_us', 'cpu.cfs_period_us'];
  const quotaTexts = await Promise.all(quotas.map(async (file) => read('cpu', file)));
  const cpuQuota = parseQuota(quotaTexts.join(' '));
  const memoryBytes = parseBytes(await read('memory', limit));
  const memoryUsageBytes = parseBytes(await read('memory', usage));
  return {
    cpuShares: version === 2 ? cpuWeightToCpuShares(weight) : weight,
    ...(cpuQuota && {cpuQuota}),
    ...(memoryBytes !== undefined && {memoryBytes}),
    ...(memoryUsageBytes !== undefined && {memoryUsageBytes}),
  };
}

/** Sets limits of an existing pod cgroup (podContainerManagerImpl SetPodCgroupConfig). Rejects with SystemError. */
export async function setPodCgroup(
  cgroupRoot: CgroupRoot,
  path: string,
  limits: Partial<CgroupLimits>,
): Promise<void> {
  const hierarchies = await controlledHierarchies(cgroupRoot);
  const values = cgroupValues(cgroupRoot.version, limits);
  await withLock(cgroupRoot, async (created) => {
    for (const hierarchy of hierarchies)
      for (const value of values.filter(({controller}) => hierarchy.controllers.includes(controller)))
        await writeValue(hierarchy.path + path, value);
    if (limits.cpuShares !== undefined)
      await updateBurstableWeight(cgroupRoot, hierarchies, dirname(path), created);
  });
}

async function withLock(
  cgroupRoot: CgroupRoot,
  work: (created: CreatedCgroups) => Promise<void>,
): Promise<void> {
  // The lock is global, because processes with other root directories use the same parent cgroups.
  const lock = await acquireLock(CGROUPS_LOCK);
  try {
    await work(new CreatedCgroups(cgroupRoot.rootDir));
  } finally {
    await lock[Symbol.asyncDispose]();
  }
}

/** Returns a path and its ancestors, topmost first: `/a` and `/a/b` for `/a/b`. */
function levelsOf(path: string): readonly string[] {
  const names = path.split('/').filter((name) => name !== '');
  return names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`);
}

async function controlledHierarchies({mount, version}: CgroupRoot): Promise<readonly Hierarchy[]> {
  if (version === 1) {
    const present = await namesIn(mount);
    return CONTROLLERS.filter((name) => present.includes(name)).map((name) => ({
      path: `${mount}/${name}`,
      controllers: [name],
    }));
  }
  const present = splitFields(await readText(`${mount}/cgroup.controllers`));
  return [{path: mount, controllers: CONTROLLERS.filter((name) => present.includes(name))}];
}

/** Returns the roots of all hierarchies, including those without limits, where runtimes create the same directories. */
async function allHierarchies({mount, version}: CgroupRoot): Promise<readonly string[]> {
  return version === 2 ? [mount] : (await namesIn(mount)).map((name) => `${mount}/${name}`);
}

async function ensureLevel(
  cgroupRoot: CgroupRoot,
  hierarchy: Hierarchy,
  level: string,
  created: CreatedCgroups,
): Promise<void> {
  const directory = hierarchy.path + level;
  const isMissing = !(await pathExists(directory));
  if (isMissing) await created.begin([directory]);
  let isNew = false;
  try {
    isNew = await createCgroup(cgroupRoot, hierarchy, level);
  } finally {
    // The creation failed, or another process created it.
    if (isMissing && !isNew) await created.delete([directory]);
  }
  if (!(await created.has(directory))) return;
  // BestEffort pods get the CPU time that others leave (qosContainerManagerImpl setCPUCgroupConfig).
  if (basename(level) === 'besteffort' && hierarchy.controllers.includes('cpu'))
    await writeValue(directory, cpuWeightValue(cgroupRoot.version, MIN_CPU_SHARES));
}

/** Creates a cgroup. Returns false if it already exists. */
async function createCgroup({version}: CgroupRoot, hierarchy: Hierarchy, path: string): Promise<boolean> {
  const directory = hierarchy.path + path;
  if (version === 2) await enableControllers(dirname(directory), hierarchy.controllers);
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

/**
 * Sets the CPU weight of the Burstable cgroup to the sum of its pods' weights, including those of other clients, if
 * kcri created it (qosContainerManagerImpl setCPUCgroupConfig).
 */
async function updateBurstableWeight(
  {version}: CgroupRoot,
  hierarchies: readonly Hierarchy[],
  path: string,
  created: CreatedCgroups,
): Promise<void> {
  const cpu = hierarchies.find(({controllers}) => controllers.includes('cpu'));
  if (basename(path) !== 'burstable' || cpu === undefined) return;
  const directory = cpu.path + path;
  if (!(await created.has(directory))) return;
  let shares = 0n;
  for (const name of await namesIn(directory)) shares += await sharesOf(version, `${directory}/${name}`);
  await writeValue(directory, cpuWeightValue(version, shares < MIN_CPU_SHARES ? MIN_CPU_SHARES : shares));
}

async function sharesOf(version: 1 | 2, directory: string): Promise<bigint> {
  const text = (await readText(`${directory}/${cpuWeightValue(version, MIN_CPU_SHARES).file}`)).trim();
  if (!/^\d+$/.test(text)) return 0n;
  return version === 1 ? BigInt(text) : cpuWeightToCpuShares(BigInt(text));
}

async function writeValue(directory: string, {file, value}: CgroupValue): Promise<void> {
  const path = `${directory}/${file}`;
  await withFileErrors(`writing ${value} to`, path, () => writeFile(path, value));
}

/** Removes a parent cgroup that kcri has created, unless it is in use. */
async function removeCreated(directory: string, created: CreatedCgroups): Promise<void> {
  if (!(await created.has(directory))) return;
  try {
    await rmdir(directory);
  } catch (error) {
    if (hasErrno(error, 'EBUSY', 'ENOTEMPTY')) return;
    throw cgroupError(directory, error);
  }
  await created.delete([directory]);
}

/** Removes a cgroup and its children with rmdir; the files of a cgroup cannot be deleted. */
async function removeTree(path: string, clock: Clock): Promise<void> {
  for (const child of await namesIn(path)) await removeTree(`${path}/${child}`, clock);
  for (let tries = 1; ; tries++) {
    try {
      await rmdir(path);
      return;
    } catch (error) {
      if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return;
      if (!hasErrno(error, 'EBUSY') || tries === BUSY_TRIES) throw cgroupError(path, error);
      await clock.sleep(BUSY_WAIT_MS);
    }
  }
}

/** Returns the names of directories and links in a directory. */
async function namesIn(path: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(path, {withFileTypes: true});
    return entries.filter((entry) => !entry.isFile()).map(({name}) => name);
  } catch (error) {
    // The kernel returns ENODEV for a cgroup that is removed while it is read.
    if (hasErrno(error, 'ENOENT', 'ENOTDIR', 'ENODEV')) return [];
    throw cgroupError(path, error);
  }
}

async function readText(path: string): Promise<string> {
  return (await withFileErrors('reading', path, () => ifPresent(() => readFile(path, 'utf8')))) ?? '';
}

function splitFields(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

function cgroupError(path: string, cause: unknown): SystemError {
  return new SystemError(`removing the cgroup "${path}": ${systemErrorMessage(cause)}`, {
    cause,
    hint: `stop the processes listed in ${path}/cgroup.procs`,
  });
}
