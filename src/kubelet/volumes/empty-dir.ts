import {chmod, lstat} from 'node:fs/promises';
import {join} from 'node:path';
import {quantityValue} from '../../api/quantity.js';
import {aggregateContainerResources} from '../../api/resource-list.js';
import type {Pod} from '../../api/v1.js';
import type {EmptyDirVolumeSource} from '../../api/v1-volumes.js';
import {SystemError} from '../../base/errors.js';
import {ifPresent, makeDirectoryPath, pathSegment, withFile, withFileErrors} from '../../base/files.js';
import {nodeAllocatable, podDir, type NodeFacts} from '../container/node.js';
import {podRef} from '../container/pod-ref.js';
import {isMountPoint, type Mounter} from './mounts.js';

const PLUGIN = 'kubernetes.io~empty-dir';

/** Everybody may write: which user a container has is its own business. */
const MODE = 0o777;

/** An emptyDir volume of a pod. */
export interface EmptyDir {
  readonly pod: Pod;
  readonly name: string;
  readonly source: EmptyDirVolumeSource;
}

/** `<rootDir>/pods/<uid>/volumes/kubernetes.io~empty-dir/<name>`. Throws SystemError for a name that is no file name. */
export function emptyDirPath(node: Pick<NodeFacts, 'rootDir'>, {pod, name}: EmptyDir): string {
  return join(podDirOf(node, pod), 'volumes', PLUGIN, pathSegment('volume name', name));
}

function podDirOf(node: Pick<NodeFacts, 'rootDir'>, pod: Pod): string {
  return podDir(node, pathSegment('pod UID', podRef(pod).uid));
}

/**
 * Makes the directory, or for medium Memory mounts a tmpfs on it (emptydir SetUpAt). One that is ready is kept with
 * what is in it: the volume lives as long as the pod. The pod's data directories must exist. Rejects with SystemError.
 */
export async function setUpEmptyDir(
  node: Pick<NodeFacts, 'rootDir' | 'cpuMilli' | 'memoryBytes' | 'ephemeralStorageBytes'>,
  volume: EmptyDir,
  mounter: Mounter,
): Promise<void> {
  const {medium = ''} = volume.source;
  if (medium !== '' && medium !== 'Memory') throw new SystemError(`unknown storage medium "${medium}"`);
  const path = emptyDirPath(node, volume);
  const readyDir = join(podDirOf(node, volume.pod), 'plugins', PLUGIN, volume.name);
  const present = medium === 'Memory' ? await isMountPoint(path, mounter) : await exists(path);
  if (present && (await exists(join(readyDir, 'ready')))) return;
  await makeVolumeDirectory(path);
  if (medium === 'Memory' && !present)
    await mountMemory(path, memoryBytes(volume, nodeAllocatable(node).memoryBytes), mounter);
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
export function memoryBytes({pod, source}: Omit<EmptyDir, 'name'>, nodeMemoryBytes: bigint): bigint {
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
