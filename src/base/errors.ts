/** What every error that kcri means to show to a person carries beside its message. */
export type KcriErrorOptions = ErrorOptions & {
  /** One line that says what to do next: the flag, file or command to use. */
  readonly hint?: string | undefined;
};

/**
 * An error that is the user's or the world's, not a programming fault: shown as its message and hint, never
 * with a stack. Messages are lower case, without a final period, with the object quoted and the cause last.
 */
export abstract class KcriError extends Error {
  /** A stable name for scripts, such as `USAGE` or `CRI_NOT_FOUND`. */
  abstract readonly code: string;
  /** The process's exit code when this error ends a command. */
  readonly exitCode: number = 1;
  readonly hint: string | undefined;

  constructor(message: string, options: KcriErrorOptions = {}) {
    super(message, options);
    this.name = new.target.name;
    this.hint = options.hint;
  }

  /** The message in plain words, without what only a protocol's expert reads. */
  get plainMessage(): string {
    return this.message;
  }
}

/** The command line is wrong: a flag, an argument or their combination. */
export class UsageError extends KcriError {
  readonly code = 'USAGE';
}

/** A configuration or manifest file can't be read or is wrong as a whole. */
export class ConfigError extends KcriError {
  readonly code = 'CONFIG';
}

/** Something outside kcri (a program, a file system, the machine) refused what was asked. */
export class SystemError extends KcriError {
  readonly code = 'SYSTEM';
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** True for a Node.js file or process error with one of these codes, such as `ENOENT`. */
export function hasErrno(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

/** True for what a failed system call throws in Node.js: of a file, a socket, a process. */
export function isSystemCallError(error: unknown): boolean {
  return error instanceof Error && 'errno' in error && 'syscall' in error;
}
