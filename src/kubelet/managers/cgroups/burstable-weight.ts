import {cpuWeightToCpuShares, MIN_CPU_SHARES} from '../../resources/cpu-shares.js';
import type {CgroupRoot} from '../../resources/cgroup-root.js';
import {isQosCgroup} from '../../resources/pod-cgroup-parent.js';
import {cpuWeightValue} from './cgroup-files.js';
import {writeLimits} from './cgroup-levels.js';
import type {CreatedCgroups} from './created-cgroups.js';
import {namesIn, readText, type Hierarchy} from './hierarchies.js';

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
  if (!isQosCgroup(path, 'burstable') || cpu === undefined) return;
  const directory = cpu.path + path;
  if (!(await created.has(directory))) return;
  let shares = 0n;
  for (const name of await namesIn(directory)) shares += await sharesOf(version, `${directory}/${name}`);
  const sum = shares < MIN_CPU_SHARES ? MIN_CPU_SHARES : shares;
  await writeLimits(cpu, path, [cpuWeightValue(version, sum)]);
}

async function sharesOf(version: 1 | 2, directory: string): Promise<bigint> {
  const text = (await readText(`${directory}/${cpuWeightValue(version, MIN_CPU_SHARES).file}`)).trim();
  if (!/^\d+$/.test(text)) return 0n;
  return version === 1 ? BigInt(text) : cpuWeightToCpuShares(BigInt(text));
}
