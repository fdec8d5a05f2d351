import {isSystemCallError, messageOf} from './errors.js';

/** Returns the system's error message without Node.js's code, system call and path: `no space left on device`. */
export function systemErrorMessage(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  // Loaded here: most commands never report such an error.
  const {getSystemErrorMap} = process.getBuiltinModule('node:util');
  // Looked up by code: Bun's errors have numbers of either sign.
  return new Map(getSystemErrorMap().values()).get(code) ?? messageOf(error);
}

/** Formats a failed system call like Go's os.PathError. Rethrows errors that are not from a system call. */
export function formatPathError(call: string, path: string, error: unknown): string {
  if (!isSystemCallError(error)) throw error;
  return `${call} ${path}: ${systemErrorMessage(error)}`;
}
