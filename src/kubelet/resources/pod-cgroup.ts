import {mkdir, readdir, readFile, rmdir, writeFile} from 'node:fs/promises';
import {basename, dirname} from 'node:path';
import type {Clock} from '../../base/clock.js';
import {hasErrno, SystemError} from '../../base/errors.js';
import {ifPresent, isPresent, withFileErrors} from '../../base/files.js';
import {systemReason} from '../../base/system-reason.js';
import {acquireLock} from '../../base/lock.js';
import {CGROUPS_LOCK} from '../../base/machine-locks.js';
import type {CgroupLimits, PodCgroup} from '../container/cgroup-limits.js';
import type {CgroupGround} from '../container/node.js';
import {
  cgroupValues,
  CONTROLLERS,
  cpuWeightValue,
  MIN_SHARES,
  parseBytes,
  parseNumber,
  parseQuota,
  sharesOfWeight,
  USAGE_FILES,
  type CgroupValue,
} from './cgroup-files.js';
import {MadeCgroups} from './made-cgroups.js';

/** The kernel counts a process out of its cgroup some moments after it has ended. */
const BUSY_TRIES = 5;
const BUSY_WAIT_MS = 100;

/** Where one or, in the unified layout, all controllers have their directories. */
interface Hierarchy {
  readonly path: string;
  readonly controllers: readonly CgroupValue['controller'][];
}

/**
 * Makes the cgroup `path` of a pod with its limits, and those above it that are missing, in every hierarchy that has
 * a limit (podContainerManagerImpl EnsureExists). One that is there already is left as it is, unless kcri was killed or
 * failed before it had all its limits. For the driver cgroupfs. Rejects with SystemError.
 */
export async function makePodCgroup(ground: CgroupGround, path: string, limits: CgroupLimits): Promise<void> {
  const hierarchies = await controlledHierarchies(ground);
  const directories = hierarchies.map(({path: root}) => root + path);
  const isThere = await Promise.all(directories.map(isPresent));
  if (!isThere.includes(false) && !(await new MadeCgroups(ground.rootDir).hasBegun(directories))) return;
  const values = cgroupValues(ground.version, limits);
  await withLock(ground, async (made) => {
    await made.begin(directories);
    for (const hierarchy of hierarchies) {
      for (const level of levelsOf(dirname(path))) await makeLevel(ground, hierarchy, level, made);
      await makeChild(ground, hierarchy, path);
      for (const value of values.filter(({controller}) => hierarchy.controllers.includes(controller)))
        await writeValue(hierarchy.path + path, value);
    }
    await weighBurstable(ground, hierarchies, dirname(path), made);
    await made.delete(directories);
  });
}

/**
 * Removes a pod's cgroups, those of `paths` (see podCgroupParents) that there are, in every hierarchy, and those above
 * them that kcri has made and that are empty. Only empty ones go, with half a second's patience: a process that is
 * still there keeps its cgroup. Rejects with SystemError, which names the one that is in use.
 */
export async function removePodCgroup(
  ground: CgroupGround,
  paths: readonly string[],
  clock: Clock,
): Promise<void> {
  const roots = await allHierarchies(ground);
  for (const root of roots) for (const path of paths) await removeTree(root + path, clock);
  const hierarchies = await controlledHierarchies(ground);
  await withLock(ground, async (made) => {
    await made.delete(hierarchies.flatMap(({path: root}) => paths.map((path) => root + path)));
    for (const {path: root} of hierarchies)
      for (const parent of new Set(paths.map((path) => dirname(path))))
        for (const level of levelsOf(parent).toReversed()) await removeMade(root + level, made);
    for (const path of paths) await weighBurstable(ground, hierarchies, dirname(path), made);
  });
}

/**
 * What the pod's cgroup is limited to and uses; undefined when it isn't there (podContainerManagerImpl
 * GetPodCgroupConfig). Rejects with SystemError.
 */
export async function readPodCgroup(ground: CgroupGround, path: string): Promise<PodCgroup | undefined> {
  const {version} = ground;
  const hierarchies = await controlledHierarchies(ground);
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
    cpuShares: version === 2 ? sharesOfWeight(weight) : weight,
    ...(cpuQuota && {cpuQuota}),
    ...(memoryBytes !== undefined && {memoryBytes}),
    ...(memoryUsageBytes !== undefined && {memoryUsageBytes}),
  };
}

/** Sets these limits of a pod's cgroup, which is there (podContainerManagerImpl SetPodCgroupConfig). Rejects with SystemError. */
export async function setPodCgroup(
  ground: CgroupGround,
  path: string,
  limits: Partial<CgroupLimits>,
): Promise<void> {
  const hierarchies = await controlledHierarchies(ground);
  const values = cgroupValues(ground.version, limits);
  await withLock(ground, async (made) => {
    for (const hierarchy of hierarchies)
      for (const value of values.filter(({controller}) => hierarchy.controllers.includes(controller)))
        await writeValue(hierarchy.path + path, value);
    if (limits.cpuShares !== undefined) await weighBurstable(ground, hierarchies, dirname(path), made);
  });
}

async function withLock(ground: CgroupGround, work: (made: MadeCgroups) => Promise<void>): Promise<void> {
  // Of the machine: who has another root directory makes and removes the same levels.
  const lock = await acquireLock(CGROUPS_LOCK);
  try {
    await work(new MadeCgroups(ground.rootDir));
  } finally {
    await lock[Symbol.asyncDispose]();
  }
}

/** `/a/b` as `/a` and `/a/b`. */
function levelsOf(path: string): readonly string[] {
  const names = path.split('/').filter((name) => name !== '');
  return names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`);
}

async function controlledHierarchies({mount, version}: CgroupGround): Promise<readonly Hierarchy[]> {
  if (version === 1) {
    const present = await namesIn(mount);
    return CONTROLLERS.filter((name) => present.includes(name)).map((name) => ({
      path: `${mount}/${name}`,
      controllers: [name],
    }));
  }
  const present = words(await readText(`${mount}/cgroup.controllers`));
  return [{path: mount, controllers: CONTROLLERS.filter((name) => present.includes(name))}];
}

/** Also those that limit nothing, in which runtimes make the same directories. */
async function allHierarchies({mount, version}: CgroupGround): Promise<readonly string[]> {
  return version === 2 ? [mount] : (await namesIn(mount)).map((name) => `${mount}/${name}`);
}

async function makeLevel(
  ground: CgroupGround,
  hierarchy: Hierarchy,
  level: string,
  made: MadeCgroups,
): Promise<void> {
  const directory = hierarchy.path + level;
  const isMissing = !(await isPresent(directory));
  if (isMissing) await made.begin([directory]);
  let isNew = false;
  try {
    isNew = await makeChild(ground, hierarchy, level);
  } finally {
    // It failed, or somebody else was faster.
    if (isMissing && !isNew) await made.delete([directory]);
  }
  if (!(await made.has(directory))) return;
  // Best effort is what is left of the CPU (qosContainerManagerImpl setCPUCgroupConfig).
  if (basename(level) === 'besteffort' && hierarchy.controllers.includes('cpu'))
    await writeValue(directory, cpuWeightValue(ground.version, MIN_SHARES));
}

/** False when it is there already. */
async function makeChild({version}: CgroupGround, hierarchy: Hierarchy, path: string): Promise<boolean> {
  const directory = hierarchy.path + path;
  if (version === 2) await delegate(dirname(directory), hierarchy.controllers);
  return await withFileErrors('making the cgroup', directory, async () => {
    try {
      await mkdir(directory, 0o755);
      return true;
    } catch (error) {
      if (hasErrno(error, 'EEXIST')) return false;
      throw error;
    }
  });
}

/** In the unified layout a directory has only the controllers that the one above passes on. */
async function delegate(parent: string, controllers: readonly string[]): Promise<void> {
  const file = `${parent}/cgroup.subtree_control`;
  const passedOn = words(await readText(file));
  const missing = controllers.filter((name) => !passedOn.includes(name)).map((name) => `+${name}`);
  if (missing.length > 0) await withFileErrors('writing', file, () => writeFile(file, missing.join(' ')));
}

/**
 * The Burstable pods' cgroup weighs as much as they do together, when it is of kcri's making. Their own weights tell,
 * whoever's pods they are.
 */
async function weighBurstable(
  {version}: CgroupGround,
  hierarchies: readonly Hierarchy[],
  path: string,
  made: MadeCgroups,
): Promise<void> {
  const cpu = hierarchies.find(({controllers}) => controllers.includes('cpu'));
  if (basename(path) !== 'burstable' || cpu === undefined) return;
  const directory = cpu.path + path;
  if (!(await made.has(directory))) return;
  let shares = 0n;
  for (const name of await namesIn(directory)) shares += await sharesOf(version, `${directory}/${name}`);
  await writeValue(directory, cpuWeightValue(version, shares < MIN_SHARES ? MIN_SHARES : shares));
}

async function sharesOf(version: 1 | 2, directory: string): Promise<bigint> {
  const text = (await readText(`${directory}/${cpuWeightValue(version, MIN_SHARES).file}`)).trim();
  if (!/^\d+$/.test(text)) return 0n;
  return version === 1 ? BigInt(text) : sharesOfWeight(BigInt(text));
}

async function writeValue(directory: string, {file, value}: CgroupValue): Promise<void> {
  const path = `${directory}/${file}`;
  await withFileErrors(`writing ${value} to`, path, () => writeFile(path, value));
}

/** A directory that others use too stays, and so does one of somebody else's. */
async function removeMade(directory: string, made: MadeCgroups): Promise<void> {
  if (!(await made.has(directory))) return;
  try {
    await rmdir(directory);
  } catch (error) {
    if (hasErrno(error, 'EBUSY', 'ENOTEMPTY')) return;
    throw cgroupError(directory, error);
  }
  await made.delete([directory]);
}

/** A cgroup can only be removed by rmdir, children first; its files are not entries to delete. */
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

/** The directories in a directory, and the links to some. */
async function namesIn(path: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(path, {withFileTypes: true});
    return entries.filter((entry) => !entry.isFile()).map(({name}) => name);
  } catch (error) {
    // The kernel answers ENODEV for a cgroup that goes while it is read.
    if (hasErrno(error, 'ENOENT', 'ENOTDIR', 'ENODEV')) return [];
    throw cgroupError(path, error);
  }
}

async function readText(path: string): Promise<string> {
  return (await withFileErrors('reading', path, () => ifPresent(() => readFile(path, 'utf8')))) ?? '';
}

function words(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

function cgroupError(path: string, cause: unknown): SystemError {
  return new SystemError(`removing the cgroup "${path}": ${systemReason(cause)}`, {
    cause,
    hint: `processes that are still in it are listed in ${path}/cgroup.procs`,
  });
}
