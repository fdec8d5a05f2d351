import {canonicalQuantity, compareQuantities, quantityValue} from '../../api/quantity.js';
import {aggregateContainerResources, isHugePageResource} from '../../api/resource-list.js';
import type {Pod} from '../../api/v1.js';
import type {Quantity} from '../../api/v1-meta.js';
import type {EmptyDirVolumeSource} from '../../api/v1-volumes.js';
import {SystemError} from '../../base/errors.js';
import type {VolumeFileSystem} from './mounts.js';
import type {PodVolume} from './volume-plugin.js';

/** What is mounted for an emptyDir. */
export interface MediumMount {
  readonly fileSystem: VolumeFileSystem;
  /** To be tried in turn: older kernels don't know all. */
  readonly options: readonly string[];
}

type EmptyDir = Pick<PodVolume<EmptyDirVolumeSource>, 'pod' | 'source'>;

const HUGE_PAGES = 'HugePages';
const SIZED_HUGE_PAGES = `${HUGE_PAGES}-`;
const HUGE_PAGES_RESOURCE = 'hugepages-';

/**
 * What the volume's medium takes, undefined for one that is a directory on the node's disk. `nodeMemoryBytes` is what
 * the node has for pods. Throws SystemError in the kubelet's words for a medium that doesn't exist or that the pod has
 * not asked for.
 */
export function mediumMount(volume: EmptyDir, nodeMemoryBytes: bigint): MediumMount | undefined {
  const {medium = ''} = volume.source;
  if (medium === '') return undefined;
  if (medium === 'Memory') {
    const size = `size=${memoryBytes(volume, nodeMemoryBytes)}`;
    // Kernels before 6.4 can't keep a tmpfs out of swap.
    return {fileSystem: 'tmpfs', options: [`${size},noswap`, size]};
  }
  if (medium === HUGE_PAGES || medium.startsWith(SIZED_HUGE_PAGES))
    return {fileSystem: 'hugetlbfs', options: [`pagesize=${hugePageSize(medium, volume.pod)}`]};
  throw new SystemError(`unknown storage medium "${medium}"`, {
    hint: 'use Memory, HugePages or one like HugePages-2Mi, or none for the disk',
  });
}

/** The size of page that the medium names, or the only one that the pod asks for (emptydir getPageSizeMountOption). */
function hugePageSize(medium: string, pod: Pod): Quantity {
  const asked = requestedPageSizes(pod);
  const wanted = medium === HUGE_PAGES ? undefined : medium.slice(SIZED_HUGE_PAGES.length);
  const [size, other] = asked.filter((each) => wanted === undefined || compareQuantities(each, wanted) === 0);
  if (size === undefined)
    throw new SystemError(
      `medium ${medium}: hugePages storage requested, but there is no resource request for huge pages`,
      {hint: `request ${HUGE_PAGES_RESOURCE}${wanted ?? 'SIZE'} in a container's resources`},
    );
  if (other !== undefined)
    throw new SystemError(`medium: ${medium} can't be used if container requests multiple huge page sizes`, {
      hint: `name the size in the volume: ${SIZED_HUGE_PAGES}${size}`,
    });
  return size;
}

/** In canonical form, each once. */
function requestedPageSizes({spec}: Pod): readonly Quantity[] {
  const lists = [spec, ...spec.containers, ...(spec.initContainers ?? [])].map(
    ({resources}) => resources?.requests ?? {},
  );
  const names = lists.flatMap((list) => Object.keys(list)).filter(isHugePageResource);
  return [...new Set(names.map((name) => canonicalQuantity(name.slice(HUGE_PAGES_RESOURCE.length))))];
}

/** The least of what the node has for pods, the pod may use and the volume may hold (emptydir calculateEmptyDirMemorySize). */
function memoryBytes({pod, source}: EmptyDir, nodeMemoryBytes: bigint): bigint {
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
