import {canonicalizeQuantity, quantityValue} from '../../../api/quantity.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import {treeUsage} from '../../../base/fs/disk-usage.js';
import {NO_FILES, sumFileUsage, type FileUsage} from '../../../base/fs/file-usage.js';
import {SystemError} from '../../../base/errors.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import type {ExceededVolume} from '../../contract/pod-filesystem.js';
import {emptyDir} from './plugins/empty-dir.js';

/** Maximum number of directory entries to measure; the rest is ignored. */
const MAX_ENTRIES = 100_000;

/**
 * Returns the first emptyDir volume on disk that exceeds its sizeLimit (eviction emptyDirLimitEviction); volumes in
 * memory cannot. A volume that cannot be measured is skipped, like one without statistics in the kubelet.
 */
export async function findVolumeOverSizeLimit(
  node: Pick<NodeFacts, 'rootDir'>,
  pod: Pod,
): Promise<ExceededVolume | undefined> {
  for (const {name, emptyDir: source} of pod.spec.volumes ?? []) {
    const {medium = '', sizeLimit = '0'} = source ?? {};
    const bytes = quantityValue(sizeLimit);
    if (source === undefined || medium !== '' || bytes <= 0n) continue;
    const {usedBytes} = await measureUsage(emptyDir.path(node, {pod, name, source}), bytes);
    if (usedBytes > bytes) return {name, sizeLimit: canonicalizeQuantity(sizeLimit)};
  }
  return undefined;
}

/** Larger than any disk. */
const NO_LIMIT = 2n ** 62n;

/** Returns the usage of the emptyDir volumes of a pod on disk. A volume that cannot be measured counts as empty. */
export async function measureEmptyDirs(node: Pick<NodeFacts, 'rootDir'>, pod: Pod): Promise<FileUsage> {
  const usages: FileUsage[] = [];
  for (const {name, emptyDir: source} of pod.spec.volumes ?? [])
    if (source !== undefined && (source.medium ?? '') === '')
      usages.push(await measureUsage(emptyDir.path(node, {pod, name, source}), NO_LIMIT));
  return sumFileUsage(usages);
}

async function measureUsage(path: string, maxBytes: bigint): Promise<FileUsage> {
  try {
    const {bytes, inodes} = await treeUsage(path, {maxBytes, maxEntries: MAX_ENTRIES});
    return {usedBytes: bytes, inodesUsed: inodes};
  } catch (error) {
    if (error instanceof SystemError) return NO_FILES;
    throw error;
  }
}
