import {
  cpuWeightToCpuShares,
  MIN_CPU_SHARES,
  milliCpuToShares,
  sharesToMilliCpu,
} from '../../resources/cpu-shares.js';
import type {CgroupRoot} from '../../resources/cgroup-root.js';
import {isQosCgroup} from '../../resources/pod-cgroup-parent.js';
import {cpuWeightValue} from './cgroup-files.js';
import {writeLimits} from './cgroup-levels.js';
import type {CreatedCgroups} from './created-cgroups.js';
import {namesIn, readText, type Hierarchy} from './hierarchies.js';

/**
 * Sets the CPU weight of the Burstable cgroup to that of the sum of its pods' requests, if kcri created it
 * (qosContainerManagerImpl setCPUCgroupConfig). The requests are read from the weights of the pods, so that those of other
 * clients count.
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
  let milliCpu = 0n;
  for (const name of namesIn(directory)) milliCpu += requestOf(sharesOf(version, `${directory}/${name}`));
  await writeLimits(cpu, path, [cpuWeightValue(version, milliCpuToShares(milliCpu))]);
}

/** Returns the milli-CPUs that a pod with these shares requests; the minimum stands for none, and is not added up. */
function requestOf(shares: bigint): bigint {
  return shares === MIN_CPU_SHARES ? 0n : sharesToMilliCpu(shares);
}

function sharesOf(version: 1 | 2, directory: string): bigint {
  const text = readText(`${directory}/${cpuWeightValue(version, MIN_CPU_SHARES).file}`).trim();
  if (!/^\d+$/.test(text)) return 0n;
  return version === 1 ? BigInt(text) : cpuWeightToCpuShares(BigInt(text));
}
