import {dirname} from 'node:path';
import {SystemError} from '../../../base/errors.js';
import type {CgroupLimits, PodCgroup} from '../../contract/resources/cgroup-limits.js';
import {cpuWeightToCpuShares} from '../../resources/cpu-shares.js';
import type {CgroupRoot} from '../../resources/cgroup-root.js';
import {namesOfCgroup, pathOfCgroup} from '../../resources/pod-cgroup-parent.js';
import {updateBurstableWeight} from './burstable-weight.js';
import {
  cgroupValues,
  parseBytes,
  parseNumber,
  parseQuota,
  USAGE_FILES,
  type CgroupValue,
} from './cgroup-files.js';
import {
  createCgroup,
  ensureLevels,
  missingOf,
  unlessReadOnly,
  hasLimits,
  hasReadyParents,
  keepWeight,
  missingLevels,
  writeLimits,
  writeNewLimits,
  type CreationContext,
} from './cgroup-levels.js';
import {CreatedCgroups, withCreatedCgroups} from './created-cgroups.js';
import {findMissing} from './existing-cgroup.js';
import {inodeOf, levelsOf, listHierarchies, readText} from './hierarchies.js';

/**
 * Creates the cgroup `path` of a pod with its limits and its missing parents, in every hierarchy
 * (podContainerManagerImpl EnsureExists). An existing cgroup is not changed, unless its creation was interrupted. The
 * ledger keeps the pod's cgroup in the first hierarchy, which shows that kcri created it. With slices, systemd creates them and also keeps the limits.
 * Resolves with false if there was nothing to do. Rejects with SystemError.
 */
export async function ensurePodCgroup(
  cgroupRoot: CgroupRoot,
  path: string,
  limits: CgroupLimits,
): Promise<boolean> {
  const hierarchies = listHierarchies(cgroupRoot);
  const directories = hierarchies.filter(({isOptional}) => !isOptional).map(({path: root}) => root + path);
  const isMissing = directories.some((directory) => inodeOf(directory) === undefined);
  if (!isMissing && !(await new CreatedCgroups(cgroupRoot.rootDir).hasBegun(directories))) return false;
  const values = cgroupValues(cgroupRoot.version, limits);
  const create = async (created: CreatedCgroups): Promise<void> => {
    const begun = missingLevels(hierarchies, levelsOf(dirname(path)));
    await created.begin(begun);
    try {
      for (const hierarchy of hierarchies)
        await createInHierarchy({cgroupRoot, hierarchy, created, begun}, path, values);
    } finally {
      // Those that could not be created.
      await created.delete(missingOf(begun));
    }
    await updateBurstableWeight(cgroupRoot, hierarchies, dirname(path), created);
    await created.finish(directories);
  };
  await withCreatedCgroups(cgroupRoot, create, () => missingOf(directories));
  return true;
}

/**
 * Reads the limits and memory usage of a pod's cgroup; undefined if it does not exist (podContainerManagerImpl
 * GetPodCgroupConfig). Rejects with SystemError.
 */
export async function readPodCgroup(cgroupRoot: CgroupRoot, path: string): Promise<PodCgroup | undefined> {
  const {version} = cgroupRoot;
  const hierarchies = listHierarchies(cgroupRoot);
  const read = async (controller: CgroupValue['controller'], file: string): Promise<string> => {
    const root = hierarchies.find(({controllers}) => controllers.includes(controller))?.path;
    return root === undefined ? '' : readText(`${root}${path}/${file}`);
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
  const hierarchies = listHierarchies(cgroupRoot);
  const values = cgroupValues(cgroupRoot.version, limits);
  await withCreatedCgroups(cgroupRoot, async (created) => {
    for (const hierarchy of hierarchies) await writeLimits(hierarchy, path, values);
    if (limits.cpuShares !== undefined)
      await updateBurstableWeight(cgroupRoot, hierarchies, dirname(path), created);
  });
}

/**
 * Sets the limits of the cgroup of all pods in the hierarchies in which kcri created it; it gets them at its creation
 * otherwise (enforceNodeAllocatableCgroups). Resolves with false if another process created it, such as a kubelet, and gave
 * it other limits. Rejects with SystemError, for example if the pods use more memory than the limit.
 */
export async function limitAllPods(cgroupRoot: CgroupRoot): Promise<boolean> {
  const {allPods, version} = cgroupRoot;
  if (allPods === undefined) return true;
  const values = cgroupValues(version, allPods.limits);
  let isLimited = true;
  const hierarchies = listHierarchies(cgroupRoot);
  await withCreatedCgroups(cgroupRoot, async (created) => {
    for (const hierarchy of hierarchies.filter(({isOptional}) => !isOptional)) {
      const directory = hierarchy.path + allPods.path;
      if (await created.has(directory)) await writeLimits(hierarchy, allPods.path, values);
      else if (inodeOf(directory) !== undefined) isLimited &&= hasLimits(hierarchy, allPods.path, values);
    }
  });
  return isLimited;
}

/** Sets limits of the cgroup that a setting names, which must exist (enforceExistingCgroup). Rejects with SystemError. */
export async function limitExistingCgroup(
  cgroupRoot: CgroupRoot,
  setting: string,
  limits: Partial<CgroupLimits>,
): Promise<void> {
  const {version, hasSlices = false} = cgroupRoot;
  const names = namesOfCgroup(setting, hasSlices);
  const path = pathOfCgroup(names, hasSlices);
  const all = listHierarchies(cgroupRoot);
  const problem = await findMissing(version, {names, path}, all);
  if (problem !== undefined)
    throw new SystemError(problem, {
      hint: 'create it before the kubelet starts, for example as a slice of systemd',
    });
  for (const hierarchy of all.filter(({isOptional}) => !isOptional))
    await writeLimits(hierarchy, path, cgroupValues(version, limits));
}

async function createInHierarchy(
  context: CreationContext,
  path: string,
  values: readonly CgroupValue[],
): Promise<void> {
  const {cgroupRoot, hierarchy} = context;
  const parents = levelsOf(dirname(path));
  await unlessReadOnly(hierarchy, async () => {
    if (await hasReadyParents(context, parents)) await keepWeight(context, dirname(path));
    else await ensureLevels(context, parents);
    const isNew = await createCgroup(cgroupRoot, hierarchy, path);
    await (isNew ? writeNewLimits : writeLimits)(hierarchy, path, values);
  });
}
