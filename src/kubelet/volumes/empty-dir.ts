import {chmod, lstat} from 'node:fs/promises';
import {join} from 'node:path';
import {quantityValue} from '../../api/quantity.js';
import {aggregateContainerResources} from '../../api/resource-list.js';
import type {Pod} from '../../api/v1.js';
import type {EmptyDirVolumeSource} from '../../api/v1-volumes.js';
import {SystemError} from '../../base/errors.js';
import {ifPresent, makeDirectoryPath, withFile, withFileErrors} from '../../base/files.js';
import {nodeAllocatable} from '../container/node.js';
import {isMountPoint, type Mounter} from './mounts.js';
import {setVolumeOwnership} from './ownership.js';
import {
  podPluginDir,
  podVolumeDir,
  type PodVolume,
  type VolumeHost,
  type VolumePlugin,
} from './volume-plugin.js';

const PLUGIN = 'kubernetes.io~empty-dir';

/** Everybody may write: which user a container has is its own business. */
const MODE = 0o777;

/** `<rootDir>/pods/<uid>/volumes/kubernetes.io~empty-dir/<name>`, which lives as long as the pod (emptydir). */
export const emptyDir: VolumePlugin<EmptyDirVolumeSource> = {
  readOnly: false,
  path: (node, volume) => podVolumeDir(node, PLUGIN, volume),
  setUp: async (host, volume) => {
    await setUpEmptyDir(host, volume, podVolumeDir(host.node, PLUGIN, volume));
  },
};

/**
 * Makes an empty directory at the path, or for medium Memory mounts a tmpfs on it, and gives it to the pod's fsGroup
 * (emptydir SetUpAt). One that is ready is kept with what is in it. The pod's data directories must exist. Rejects with
 * SystemError.
 */
export async function setUpEmptyDir(
  {node, mounter}: Pick<VolumeHost, 'node' | 'mounter'>,
  volume: PodVolume<EmptyDirVolumeSource>,
  path: string,
): Promise<void> {
  const {medium = ''} = volume.source;
  if (medium !== '' && medium !== 'Memory') throw new SystemError(`unknown storage medium "${medium}"`);
  const readyDir = podPluginDir(node, PLUGIN, volume);
  const present = medium === 'Memory' ? await isMountPoint(path, mounter) : await exists(path);
  if (present && (await exists(join(readyDir, 'ready')))) return;
  await makeVolumeDirectory(path);
  if (medium === 'Memory' && !present)
    await mountMemory(path, memoryBytes(volume, nodeAllocatable(node).memoryBytes), mounter);
  await setVolumeOwnership(path, {fsGroup: volume.pod.spec.securityContext?.fsGroup, readOnly: false});
  await setReady(readyDir);
}

async function exists(path: string): Promise<boolean> {
  return (await withFileErrors('looking at', path, () => ifPresent(() => lstat(path)))) !== undefined;
}

async function makeVolumeDirectory(path: string): Promise<void> {
  await makeDirectoryPath(path, 0o750);
  await withFileErrors('opening up the directory', path, () => chmod(path, MODE));
}

/** Kernels before 6.4 can't keep a tmpfs out of swap. */
async function mountMemory(path: string, bytes: bigint, mounter: Mounter): Promise<void> {
  const size = `size=${bytes}`;
  try {
    await mounter.mount('tmpfs', path, `${size},noswap`);
  } catch {
    // When it isn't noswap's fault, this fails in the same way and tells.
    await mounter.mount('tmpfs', path, size);
  }
}

/** Marks that the volume is complete: what a killed process began is begun again. */
async function setReady(readyDir: string): Promise<void> {
  await makeDirectoryPath(readyDir, 0o750);
  const path = join(readyDir, 'ready');
  await withFileErrors('making', path, () => withFile(path, 'w', 0o644, async () => undefined));
}

/** The least of what the node has for pods, the pod may use and the volume may hold (emptydir calculateEmptyDirMemorySize). */
export function memoryBytes(
  {pod, source}: Omit<PodVolume<EmptyDirVolumeSource>, 'name'>,
  nodeMemoryBytes: bigint,
): bigint {
  const limits = [podMemoryLimit(pod), quantityValue(source.sizeLimit ?? '0')];
  return limits.reduce((least, limit) => (limit > 0n && limit < least ? limit : least), nodeMemoryBytes);
}

/** The memory limit of the pod's cgroup, 0 for none: one container without a limit leaves the pod without (ResourceConfigForPod). */
function podMemoryLimit({spec}: Pod): bigint {
  const own = spec.resources?.limits?.['memory'];
  if (own !== undefined) return quantityValue(own);
  const all = [...spec.containers, ...(spec.initContainers ?? [])];
  const everybodyHas = all.every(({resources}) => quantityValue(resources?.limits?.['memory'] ?? '0') > 0n);
  return everybodyHas ? quantityValue(aggregateContainerResources(spec, 'limits')['memory'] ?? '0') : 0n;
}
