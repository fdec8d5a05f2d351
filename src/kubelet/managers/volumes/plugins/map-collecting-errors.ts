import {formatAggregate, KcriError, SystemError} from '../../../../base/errors.js';

/**
 * Maps all items and returns the results in order. Throws the KcriError of a failed item, or a SystemError with all
 * messages in the form of Go's aggregate errors: `[first, second]`.
 */
export function mapCollectingErrors<T, R>(items: readonly T[], act: (item: T) => R): readonly R[] {
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
  const message = formatAggregate(failures);
  throw message === first.message ? first : new SystemError(message, {cause: first, hint: first.hint});
}
