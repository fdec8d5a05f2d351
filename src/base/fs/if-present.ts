import {lstatSync} from 'node:fs';
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

/**
 * Reports whether nothing is at the path, not even a link. Asked on this thread, since another takes longer than the answer: for files
 * of kcri's state, most of which are absent when they are looked for. Throws the system error.
 */
export function isAbsent(path: string): boolean {
  return lstatSync(path, {throwIfNoEntry: false}) === undefined;
}
