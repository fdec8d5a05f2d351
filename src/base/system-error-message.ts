import {isSystemCallError, messageOf, SystemError} from './errors.js';

/** Linux's number of EDQUOT, for which Node.js has no name. */
const EDQUOT = -122;

/** Returns the code of a system error, such as `ENOSPC`; empty for other values. */
export function systemErrorCode(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error)) return '';
  return 'errno' in error && error.errno === EDQUOT ? 'EDQUOT' : String(error.code);
}

/** Returns the system's error message without Node.js's code, system call and path: `no space left on device`. */
export function systemErrorMessage(error: unknown): string {
  const code = systemErrorCode(error);
  if (code === 'EDQUOT') return 'disk quota exceeded';
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

/** Codes of disks that cannot be written to, with hints. */
const DISK_HINTS: Readonly<Record<string, string>> = {
  EROFS: 'use a directory on a writable filesystem',
  ENOSPC: 'free some space, or use a directory on another filesystem',
  EDQUOT: 'free some space, or use a directory on another filesystem',
};

/** Returns the hint for a disk that is full or read-only; undefined for other codes. */
export function diskHint(error: unknown): string | undefined {
  return DISK_HINTS[systemErrorCode(error)];
}

/**
 * Converts the error of a system call on a full or read-only disk into a SystemError for people:
 * `mkdir "/x": read-only file system`. Returns any other value unchanged.
 */
export function explainDiskError(error: unknown): unknown {
  const hint = diskHint(error);
  if (hint === undefined || !(error instanceof Error) || !isSystemCallError(error)) return error;
  const {syscall, path, dest} = error as NodeJS.ErrnoException & {readonly dest?: string};
  const where = [path, dest].flatMap((name) => (name === undefined ? [] : ` ${JSON.stringify(name)}`));
  return new SystemError(`${syscall}${where.join(' to')}: ${systemErrorMessage(error)}`, {
    cause: error,
    hint,
  });
}
