import {readFile, writeFile} from 'node:fs/promises';
import {SystemError, isSystemCallError} from '../../base/errors.js';
import {ifPresent} from '../../base/files.js';
import type {Logger} from '../../base/logger.js';
import type {ConfigValues} from '../../kubelet/index.js';

/**
 * What a kubelet does to itself before it begins. `swapsFile` is the kernel's list of what it swaps to, /proc/swaps.
 * Rejects with SystemError when the node isn't fit.
 */
export async function prepareProcess(values: ConfigValues, swapsFile: string, logger: Logger): Promise<void> {
  if (values.failSwapOn && (await hasSwap(swapsFile)))
    throw new SystemError(
      'running with swap on is not supported, please disable swap or set --fail-swap-on flag to false',
      {hint: '"swapoff -a" disables it until the machine starts anew; containers get none in any case'},
    );
  try {
    await writeFile('/proc/self/oom_score_adj', String(values.oomScoreAdj));
  } catch (error) {
    if (!isSystemCallError(error)) throw error;
    logger.info('Failed to ApplyOOMScoreAdj', {err: error});
  }
}

/** Whether the node swaps: the list has a line for each device, below a title (util/swap IsSwapOn). */
async function hasSwap(swapsFile: string): Promise<boolean> {
  const text = (await ifPresent(() => readFile(swapsFile, 'utf8'))) ?? '';
  return text.trim().split('\n').length > 1;
}
