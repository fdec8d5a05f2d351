import {KcriError} from '../base/errors.js';
import {withContext} from './with-context.js';

/** The ID on the command line is the empty string, for instance from an unset variable of a script. */
class EmptyIdError extends KcriError {
  readonly code = 'EMPTY_ID';
}

/** Calls `work` as withContext does, but rejects with KcriError instead if `id` is empty. */
export async function withRequiredId<T>(operation: string, id: string, work: () => Promise<T>): Promise<T> {
  const rejected = async () =>
    await Promise.reject<T>(
      new EmptyIdError('ID cannot be empty', {plain: 'the name is empty; check the variable that sets it'}),
    );
  return await withContext(operation, id === '' ? rejected() : work());
}
