import {KcriError} from '../../base/errors.js';

/** No object has the ID or name. */
export class NotFoundError extends KcriError {
  readonly code = 'NOT_FOUND';
}

/** An ID prefix or name matches several objects. */
export class AmbiguousError extends KcriError {
  readonly code = 'AMBIGUOUS';
}

/** Result of resolving a reference on the command line: an object's ID, or the error that none was found. */
export type Target<Id> =
  | {
      readonly kind: 'found';
      readonly ref: string;
      readonly id: Id;
      /**
       * Resolves the reference by lists. Defined for an ID that was not looked up, for the case that the runtime does not know
       * it; undefined is returned if the runtime's error says enough.
       */
      readonly lookUp?: () => Promise<Target<Id> | undefined>;
    }
  | {readonly kind: 'missing'; readonly ref: string; readonly error: NotFoundError};

/** Codes of errors for an unknown ID: cri-dockerd has no code of its own. */
const UNKNOWN_ID = ['CRI_NOT_FOUND', 'CRI_UNKNOWN'];

/**
 * Returns what `act` returns for a target. If the runtime may not know an ID that was not looked up, it is: `act` is called
 * again if it is that of a pod of which a container was chosen. Rejects with the error of a missing target, and with
 * that of `act`.
 */
export async function actOnTarget<Id, T>(
  target: Target<Id> | undefined,
  act: (id: Id, ref: string) => Promise<T>,
): Promise<T> {
  const {id, ref, lookUp} = requireTarget(target);
  try {
    return await act(id, ref);
  } catch (error) {
    if (lookUp === undefined || !(error instanceof KcriError) || !UNKNOWN_ID.includes(error.code))
      throw error;
    const other = await lookUp();
    if (other === undefined || (other.kind === 'found' && other.id === id)) throw error;
    return await actOnTarget(other, act);
  }
}

/** Returns the target of a single reference. Throws NotFoundError if it is missing. */
export function requireTarget<Id>(target: Target<Id> | undefined): Target<Id> & {readonly kind: 'found'} {
  if (target?.kind === 'found') return target;
  throw target?.error ?? new Error('resolving one reference returned no target');
}

/** The filters of a command match no objects. crictl shows its help in this case. */
export class NothingFoundError extends NotFoundError {}

/**
 * Returns that error with crictl's text as its message. `what` is what is missing, such as `no pod matches --name web`,
 * and `lister` the command that lists all objects.
 */
export function nothingFoundError(lister: string, what?: string): NothingFoundError {
  return new NothingFoundError('No IDs provided or nothing found per filter', {
    plain: what,
    hint: `run "${lister}" to list all`,
  });
}
