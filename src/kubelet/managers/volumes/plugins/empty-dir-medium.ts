import {containersOf} from '../../../../api/pod-containers.js';
import {canonicalizeQuantity, compareQuantities, quantityValue} from '../../../../api/quantity.js';
import {aggregateContainerResources, isHugePageResource} from '../../../../api/resource-list.js';
import type {Pod} from '../../../../api/types/v1-pod.js';
import type {Quantity} from '../../../../api/types/v1-meta.js';
import type {EmptyDirVolumeSource} from '../../../../api/types/v1-volumes.js';
import {SystemError} from '../../../../base/errors.js';
import type {VolumeFileSystem} from '../mounter.js';
import type {PodVolume} from './volume-plugin.js';

/** Filesystem to mount for an emptyDir. */
export interface MediumMount {
  readonly fileSystem: VolumeFileSystem;
  /** Mount options to try in order, because older kernels do not support all. */
  readonly options: readonly string[];
}

type EmptyDir = Pick<PodVolume<EmptyDirVolumeSource>, 'pod' | 'source'>;

const HUGE_PAGES = 'HugePages';
const SIZED_HUGE_PAGES = `${HUGE_PAGES}-`;
const HUGE_PAGES_RESOURCE = 'hugepages-';

/**
 * Returns the filesystem of the volume's medium; undefined for a directory on disk. `nodeMemoryBytes` is the node's
 * allocatable memory.
 *
 * @throws SystemError for an unknown medium, or one that the pod does not request.
 */
export function mediumMount(volume: EmptyDir, nodeMemoryBytes: bigint): MediumMount | undefined {
  const {medium = ''} = volume.source;
  if (medium === '') return undefined;
  if (medium === 'Memory') {
    const size = `size=${memoryBytes(volume, nodeMemoryBytes)}`;
    // The option noswap requires Linux 6.4.
    return {fileSystem: 'tmpfs', options: [`${size},noswap`, size]};
  }
  if (medium === HUGE_PAGES || medium.startsWith(SIZED_HUGE_PAGES))
    return {fileSystem: 'hugetlbfs', options: [`pagesize=${hugePageSize(medium, volume.pod)}`]};
  throw new SystemError(`unknown storage medium "${medium}"`, {
    hint: 'use Memory, HugePages, HugePages-SIZE such as HugePages-2Mi, or none for disk',
  });
}

/** Returns the page size of the medium, or the only one that the pod requests (emptydir getPageSizeMountOption). */
function hugePageSize(medium: string, pod: Pod): Quantity {
  const requested = requestedPageSizes(pod);
  const named = medium === HUGE_PAGES ? undefined : medium.slice(SIZED_HUGE_PAGES.length);
  const [size, other] = requested.filter(
    (each) => named === undefined || compareQuantities(each, named) === 0,
  );
  if (size === undefined)
    throw new SystemError(
      `medium ${medium}: hugePages storage requested, but there is no resource request for huge pages`,
      {hint: `request ${HUGE_PAGES_RESOURCE}${named ?? 'SIZE'} in a container's resources`},
    );
  if (other !== undefined)
    throw new SystemError(`medium: ${medium} can't be used if container requests multiple huge page sizes`, {
      hint: `set the medium of the volume to a size: ${SIZED_HUGE_PAGES}${size}`,
    });
  return size;
}

/** Returns the page sizes that the pod requests, in canonical form without duplicates. */
function requestedPageSizes(pod: Pod): readonly Quantity[] {
  const lists = [pod.spec, ...containersOf(pod)].map(({resources}) => resources?.requests ?? {});
  const names = lists.flatMap((list) => Object.keys(list)).filter(isHugePageResource);
  return [...new Set(names.map((name) => canonicalizeQuantity(name.slice(HUGE_PAGES_RESOURCE.length))))];
}

/**
 * Returns the minimum of allocatable memory, the pod's memory limit and the volume's sizeLimit (emptydir
 * calculateEmptyDirMemorySize).
 */
function memoryBytes({pod, source}: EmptyDir, nodeMemoryBytes: bigint): bigint {
  const limits = [podMemoryLimit(pod), quantityValue(source.sizeLimit ?? '0')];
  return limits.reduce((least, limit) => (limit > 0n && limit < least ? limit : least), nodeMemoryBytes);
}

/**
 * Returns the memory limit of the pod's cgroup; 0 if the pod or one of its containers has none (ResourceConfigForPod).
 */
function podMemoryLimit(pod: Pod): bigint {
  const own = pod.spec.resources?.limits?.['memory'];
  if (own !== undefined) return quantityValue(own);
  const allLimited = containersOf(pod).every(
    ({resources}) => quantityValue(resources?.limits?.['memory'] ?? '0') > 0n,
  );
  return allLimited ? quantityValue(aggregateContainerResources(pod.spec, 'limits')['memory'] ?? '0') : 0n;
}
