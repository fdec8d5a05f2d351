import type {NodeFacts} from '../../../../contract/node-facts.js';
import {withDiskLock} from '../disks/disk-lock.js';
import type {FlexVolumeDir} from './flex-paths.js';

/** Runs `work` with the device of a volume locked against other pods and processes. Rejects with the signal's reason. */
export async function withFlexLock<T>(
  node: Pick<NodeFacts, 'rootDir'>,
  {driver, name}: FlexVolumeDir,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  return await withDiskLock(node, `flexvolume ${driver}/${name}`, signal, work);
}
