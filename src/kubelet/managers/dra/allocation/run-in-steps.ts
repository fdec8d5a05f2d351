import {Script, createContext} from 'node:vm';
import {nextIteration} from '../../../../base/async/next-iteration.js';
import {SystemError} from '../../../../base/errors.js';
import {isObject} from '../../../../base/is-object.js';

/** How long work may take, in ms. */
export interface StepLimits {
  /** Time after which the event loop has its turn. */
  readonly turnMs: number;
  /** Time after which work that does not come to the end of a step is interrupted. */
  readonly stepMs: number;
  /** Time of all steps together. */
  readonly allMs: number;
}

/**
 * Runs work that has steps, and lets the event loop have its turns between them. Each step has the name of the next one. Rejects with
 * SystemError if it takes too long: a step is interrupted wherever it is, and the error has its name. Rejects also with the errors of
 * the work, and with the signal's reason.
 */
export async function runInSteps<T>(
  work: Generator<string, T, undefined>,
  {turnMs, stepMs, allMs}: StepLimits,
  signal?: AbortSignal,
): Promise<T> {
  let next = '';
  const turn = interruptible(() => {
    const end = performance.now() + turnMs;
    for (;;) {
      const result = work.next();
      if (result.done === true) return result;
      next = result.value;
      if (performance.now() >= end) return result;
    }
  });
  let spentMs = 0;
  for (;;) {
    const startedAt = performance.now();
    const result = turn(stepMs);
    if (result === undefined) throw tooLong(`${next}: took more than ${stepMs} ms`);
    if (result.done === true) return result.value;
    spentMs += performance.now() - startedAt;
    if (spentMs > allMs) throw tooLong(`${next}: no devices were found within ${allMs} ms`);
    await nextIteration();
    signal?.throwIfAborted();
  }
}

/** Returns synchronous work that is interrupted after a time in ms. Its result is undefined then. */
function interruptible<T>(work: () => T): (timeoutMs: number) => T | undefined {
  let result: {readonly value: T} | undefined;
  const script = new Script('work()');
  const context = createContext({
    work: () => {
      result = {value: work()};
    },
  });
  return (timeout) => {
    try {
      script.runInContext(context, {timeout});
    } catch (cause) {
      // It is an Error of the context, not of this one.
      if (!isObject(cause) || cause['code'] !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw cause;
      return undefined;
    }
    if (result === undefined) throw new Error('the work has no result');
    return result.value;
  };
}

function tooLong(message: string): SystemError {
  return new SystemError(message, {
    hint: 'simplify the CEL expressions of the claims and their DeviceClasses, or ask for fewer devices at once',
  });
}
