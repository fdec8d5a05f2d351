import {KcriError, SystemError} from '../../base/errors.js';

/**
 * Does something with each item and gives the results in order. When several fail, all failures are told of in one
 * SystemError, in the form of the kubelet's aggregates: `[first, second]`.
 */
export function mapAll<T, R>(items: readonly T[], act: (item: T) => R): readonly R[] {
  const results: R[] = [];
  const failures: KcriError[] = [];
  for (const item of items)
    try {
      results.push(act(item));
    } catch (error) {
      if (!(error instanceof KcriError)) throw error;
      failures.push(error);
    }
  const [first] = failures;
  if (first === undefined) return results;
  const messages = [...new Set(failures.map(({message}) => message))];
  if (messages.length === 1) throw first;
  throw new SystemError(`[${messages.join(', ')}]`, {cause: first, hint: first.hint});
}
