import {readFile, writeFile} from 'node:fs/promises';
import {SystemError, isSystemCallError} from '../../base/errors.js';
import {ifPresent} from '../../base/files.js';
import type {Logger} from '../../base/logger.js';
import type {ConfigValues} from '../../kubelet/index.js';

/** What a kubelet does to itself before it begins. Rejects with SystemError when the node isn't fit. */
export async function prepareProcess(values: ConfigValues, logger: Logger): Promise<void> {
  if (values.failSwapOn && (await hasSwap()))
    throw new SystemError('running with swap on is not supported', {
      hint: 'disable swap, or set --fail-swap-on to false',
    });
  try {
    await writeFile('/proc/self/oom_score_adj', String(values.oomScoreAdj));
  } catch (error) {
    if (!isSystemCallError(error)) throw error;
    logger.info('Failed to ApplyOOMScoreAdj', {err: error});
  }
}

/** Whether the node swaps: /proc/swaps has a line for each device, below a title (cm/container_manager_linux.go). */
async function hasSwap(): Promise<boolean> {
  const text = (await ifPresent(() => readFile('/proc/swaps', 'utf8'))) ?? '';
  return text.trim().split('\n').length > 1;
}
