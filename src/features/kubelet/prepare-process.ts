import {readFile, writeFile} from 'node:fs/promises';
import v8 from 'node:v8';
import {getBun} from '../../base/bun.js';
import {isSystemCallError, rethrowUnexpected, SystemError} from '../../base/errors.js';
import {ifPresent} from '../../base/fs/files.js';
import {setOpenFilesLimit} from '../../base/host/open-files-limit.js';
import type {Logger} from '../../base/logger.js';
import type {CliContext} from '../../cli/process/context.js';
import type {ConfigValues} from '../../kubelet/index.js';

/** Rejects with SystemError if swap is enabled and not allowed. `swapsFile` is /proc/swaps. */
export async function checkSwap(values: ConfigValues, swapsFile: string): Promise<void> {
  if (values.failSwapOn && (await hasSwap(swapsFile)))
    throw new SystemError(
      'running with swap on is not supported, please disable swap or set --fail-swap-on flag to false',
      {
        hint: '"swapoff -a" disables swap until the next boot; containers use swap only with memorySwap.swapBehavior',
      },
    );
}

/**
 * Prepares the process at the start of a kubelet: sets its OOM score and, unless the process does other things as well, how many
 * files it can have open. Rejects like checkSwap.
 */
export async function prepareProcess(
  values: ConfigValues,
  {swapsFile, ownsProcess = false, signal}: Pick<CliContext, 'swapsFile' | 'ownsProcess' | 'signal'>,
  logger: Logger,
): Promise<void> {
  await checkSwap(values, swapsFile);
  const log = logger.forFile('prepare-process.ts');
  try {
    await writeFile('/proc/self/oom_score_adj', String(values.oomScoreAdj));
  } catch (error) {
    if (!isSystemCallError(error)) throw error;
    log.info('Failed to ApplyOOMScoreAdj', {err: error});
  }
  if (!ownsProcess) return;
  try {
    await setOpenFilesLimit(process.pid, values.maxOpenFiles, signal);
  } catch (error) {
    rethrowUnexpected(error);
    log.error(error, 'Failed to set rlimit on max file handles');
  }
}

/** Amount of executed bytecode, in bytes, after which V8 considers a function for its optimizing compiler. */
const DEFAULT_INTERRUPT_BUDGET = 67_584;

/**
 * Lets V8 optimize fewer functions until it is disposed of. A kubelet is idle most of the time, so what it compiles for
 * a burst of pods is rarely worth it. Compiled code is stored with V8's settings and rejected with any others, so they
 * must be the default again when it is stored at the end of a run (scripts/bundle/loader.cjs).
 */
export function limitOptimization(): Disposable {
  setInterruptBudget(20 * DEFAULT_INTERRUPT_BUDGET);
  return {
    [Symbol.dispose]: () => {
      setInterruptBudget(DEFAULT_INTERRUPT_BUDGET);
    },
  };
}

function setInterruptBudget(bytes: number): void {
  if (getBun() === undefined) v8.setFlagsFromString(`--interrupt-budget=${bytes}`);
}

/** Reports whether swap is enabled: the file has a line for each device below its header (util/swap IsSwapOn). */
async function hasSwap(swapsFile: string): Promise<boolean> {
  const text = (await ifPresent(() => readFile(swapsFile, 'utf8'))) ?? '';
  return text.trim().split('\n').length > 1;
}
