import {basename} from 'node:path';
import {cpuWeightToCpuShares, MIN_CPU_SHARES} from '../../resources/cpu-shares.js';
import type {CgroupRoot} from '../../resources/cgroup-root.js';
import {cpuWeightValue} from './cgroup-files.js';
import type {CreatedCgroups} from './created-cgroups.js';
import {namesIn, readText, writeValue, type Hierarchy} from './hierarchies.js';

/**
 * Sets the CPU weight of the Burstable cgroup to the sum of its pods' weights, including those of other clients, if
 * kcri created it (qosContainerManagerImpl setCPUCgroupConfig).
 */
export async function updateBurstableWeight(
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
