import {readFile, writeFile} from 'node:fs/promises';
import {SystemError, isSystemCallError} from '../../base/errors.js';
import {ifPresent} from '../../base/fs/files.js';
import type {Logger} from '../../base/logger.js';
import type {ConfigValues} from '../../kubelet/index.js';

/**
 * Prepares the process at the start of a kubelet: sets its OOM score and checks swap. `swapsFile` is /proc/swaps.
 * Rejects with SystemError if swap is enabled and not allowed.
 */
export async function prepareProcess(values: ConfigValues, swapsFile: string, logger: Logger): Promise<void> {
  if (values.failSwapOn && (await hasSwap(swapsFile)))
    throw new SystemError(
      'running with swap on is not supported, please disable swap or set --fail-swap-on flag to false',
      {hint: '"swapoff -a" disables swap until the next boot; containers cannot use swap in any case'},
    );
  try {
    await writeFile('/proc/self/oom_score_adj', String(values.oomScoreAdj));
  } catch (error) {
    if (!isSystemCallError(error)) throw error;
    logger.forFile('prepare-process.ts').info('Failed to ApplyOOMScoreAdj', {err: error});
  }
}

/** Reports whether swap is enabled: the file has a line for each device below its header (util/swap IsSwapOn). */
async function hasSwap(swapsFile: string): Promise<boolean> {
  const text = (await ifPresent(() => readFile(swapsFile, 'utf8'))) ?? '';
  return text.trim().split('\n').length > 1;
}
