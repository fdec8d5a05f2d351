import type {KcriError} from '../../base/errors.js';

/** Returns the errors of words that name nothing on any of several nodes; `missing` has those of each node that answers. */
export function missingEverywhere<E extends KcriError>(missing: readonly (readonly E[])[]): readonly E[] {
  const [first = [], ...others] = missing;
  return first.filter(({message}) =>
    others.every((errors) => errors.some((error) => error.message === message)),
  );
}
