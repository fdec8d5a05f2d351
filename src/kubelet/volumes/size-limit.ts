import {canonicalQuantity, quantityValue} from '../../api/quantity.js';
import type {Pod} from '../../api/v1.js';
import {diskUsage} from '../../base/disk-usage.js';
import {SystemError} from '../../base/errors.js';
import type {NodeFacts} from '../container/node.js';
import type {ExceededVolume} from '../container/pod-filesystem.js';
import {emptyDir} from './empty-dir.js';

/** More files than anybody waits for to be counted: what is beyond them doesn't count. */
const MAX_ENTRIES = 100_000;

/**
 * The first emptyDir volume on the node's disk that takes more than its sizeLimit (eviction emptyDirLimitEviction);
 * those in memory can't. One that can't be measured is passed over, as a kubelet does without its statistics.
 */
export async function exceededVolume(
  node: Pick<NodeFacts, 'rootDir'>,
  pod: Pod,
): Promise<ExceededVolume | undefined> {
  for (const {name, emptyDir: source} of pod.spec.volumes ?? []) {
    const {medium = '', sizeLimit = '0'} = source ?? {};
    const bytes = quantityValue(sizeLimit);
    if (source === undefined || medium !== '' || bytes <= 0n) continue;
    const used = await measured(emptyDir.path(node, {pod, name, source}), bytes);
    if (used > bytes) return {name, sizeLimit: canonicalQuantity(sizeLimit)};
  }
  return undefined;
}

async function measured(path: string, bytes: bigint): Promise<bigint> {
  try {
    return await diskUsage(path, {bytes, entries: MAX_ENTRIES});
  } catch (error) {
    if (error instanceof SystemError) return 0n;
    throw error;
  }
}
