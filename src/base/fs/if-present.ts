import {hasErrno} from '../errors.js';

/** Resolves with the operation's result, or with undefined if it fails with ENOENT. */
export async function ifPresent<T>(act: () => Promise<T>): Promise<T | undefined> {
  try {
    return await act();
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}
