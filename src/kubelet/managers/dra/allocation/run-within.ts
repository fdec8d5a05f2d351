import {Script, createContext} from 'node:vm';
import {SystemError} from '../../../../base/errors.js';
import {isObject} from '../../../../base/is-object.js';

/** Runs synchronous work, which is interrupted after a time in ms, also within a regular expression. Throws SystemError then. */
export function runWithin<T>(timeout: number, work: () => T): T {
  let result: {readonly value: T} | undefined;
  const context = createContext({
    work: () => {
      result = {value: work()};
    },
  });
  try {
    new Script('work()').runInContext(context, {timeout});
  } catch (cause) {
    // It is an Error of the context, not of this one.
    if (!isObject(cause) || cause['code'] !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw cause;
    throw new SystemError(`no devices were found for the claims within ${timeout} ms`, {
      cause,
      hint: 'simplify the CEL expressions of the claims and their DeviceClasses, or ask for fewer devices at once',
    });
  }
  if (result === undefined) throw new Error('the work has no result');
  return result.value;
}
