import {hasErrno, isSystemCallError, KcriError, messageOf, rethrowUnexpected} from '../../base/errors.js';
import {systemErrorMessage} from '../../base/system-error-message.js';

/** Something that was read, or the reason why it could not be read. It is plain data that JSON can hold. */
export type Fact<T> = {readonly value: T} | UnknownFact;

/** Reason why something could not be read. */
export interface UnknownFact {
  readonly error: string;
  /** True if it does not exist. */
  readonly isMissing?: true;
}

/** Resolves with what is read, or with the reason why it cannot be read. Rejects with programming errors only. */
export async function readFact<T>(read: () => Promise<T>, subject = ''): Promise<Fact<T>> {
  try {
    return {value: await read()};
  } catch (error) {
    rethrowUnexpected(error);
    const prefix = subject === '' ? '' : `${subject}: `;
    if (hasErrno(error, 'ENOENT')) return {error: `${prefix}no such file or directory`, isMissing: true};
    if (isSystemCallError(error)) return {error: `${prefix}${systemErrorMessage(error)}`};
    return {error: `${prefix}${error instanceof KcriError ? error.plainMessage : messageOf(error)}`};
  }
}

/** Returns the value of a fact; undefined if it is unknown. */
export function valueOf<T>(fact: Fact<T>): T | undefined {
  return 'value' in fact ? fact.value : undefined;
}

/** Returns a fact computed from the value of another one. */
export function mapFact<T, U>(fact: Fact<T>, compute: (value: T) => U): Fact<U> {
  return 'value' in fact ? {value: compute(fact.value)} : fact;
}

/** Reports whether something is known not to exist. */
export function isMissing(fact: Fact<unknown>): boolean {
  return 'error' in fact && fact.isMissing === true;
}
