import {KcriError, messageOf, SystemError} from '../../base/errors.js';

/**
 * Does something with each item and gives the results in order. When several fail, all failures are told of in one
 * SystemError, in the form of the kubelet's aggregates: `[first, second]`.
 */
export function mapAll<T, R>(items: readonly T[], act: (item: T) => R): readonly R[] {
  const results: R[] = [];
  const failures: unknown[] = [];
  for (const item of items)
    try {
      results.push(act(item));
    } catch (error) {
      if (!(error instanceof KcriError)) throw error;
      failures.push(error);
    }
  const [first] = failures;
  const messages = [...new Set(failures.map(messageOf))];
  if (messages.length > 1)
    throw new SystemError(`[${messages.join(', ')}]`, {
      cause: first,
      hint: first instanceof KcriError ? first.hint : undefined,
    });
  if (first !== undefined) throw first;
  return results;
}
