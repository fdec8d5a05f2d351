/** Options of a KcriError. */
export type KcriErrorOptions = ErrorOptions & {
  /** Hint for the user in one line: the flag, file or command to use. */
  readonly hint?: string | undefined;
  /** Message for people, where the message itself is crictl's. */
  readonly plain?: string | undefined;
};

/**
 * An error caused by the user or the environment, not by a programming mistake. It is shown as message and hint, never
 * with a stack trace. Messages are lower case without a final period, with the object quoted and the cause last.
 */
export abstract class KcriError extends Error {
  /** Stable name for scripts, such as `USAGE` or `CRI_NOT_FOUND`. */
  abstract readonly code: string;
  /** Exit code of the process if this error ends a command. */
  readonly exitCode: number = 1;
  readonly hint: string | undefined;
  readonly #plain: string | undefined;

  constructor(message: string, options: KcriErrorOptions = {}) {
    super(message, options);
    this.name = new.target.name;
    this.hint = options.hint;
    this.#plain = options.plain;
  }

  /** The message for people, without protocol details. */
  get plainMessage(): string {
    return this.#plain ?? this.message;
  }
}

/** An invalid command line: a flag, an argument or their combination. */
export class UsageError extends KcriError {
  readonly code = 'USAGE';
}

/** An empty value on the command line, probably from an unset variable in a script. */
export class EmptyValueError extends UsageError {
  /** `subject` is the flag or argument. */
  constructor(subject: string) {
    super(`${subject} must not be empty`, {hint: 'omit it, or check the variable that sets its value'});
  }
}

/** A configuration or manifest file that cannot be read or is invalid as a whole. */
export class ConfigError extends KcriError {
  readonly code = 'CONFIG';
}

/** A failure outside kcri: of a program, a filesystem or the machine. */
export class SystemError extends KcriError {
  readonly code = 'SYSTEM';
}

/** Returns the message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Formats the messages of several errors like Go's aggregate error, each once: `[first, second]`. */
export function formatAggregate(errors: readonly unknown[]): string {
  const messages = [...new Set(errors.map(messageOf))];
  return messages.length === 1 ? (messages[0] ?? '') : `[${messages.join(', ')}]`;
}

/** Reports whether this is a Node.js system error with one of the codes, such as `ENOENT`. */
export function hasErrno(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

/** Reports whether this is a Node.js error of a failed system call on a file, a socket or a process. */
export function isSystemCallError(error: unknown): boolean {
  return error instanceof Error && 'errno' in error && 'syscall' in error;
}

/** Codes of Node.js errors that are programming errors in spite of their code. */
const PROGRAMMING_CODES: readonly string[] = ['ERR_INVALID_ARG_TYPE', 'ERR_INVALID_THIS', 'ERR_ASSERTION'];

/**
 * Reports whether this is an error of the user or the environment: a KcriError, or one with the code of a library or of
 * Node.js, such as a failed system call. All others are programming errors.
 */
export function isExpectedError(error: unknown): boolean {
  if (error instanceof KcriError) return true;
  return error instanceof Error && 'code' in error && !hasErrno(error, ...PROGRAMMING_CODES);
}

/**
 * Throws the error again if it is a programming error. Catch blocks that turn errors into a reason, a message or a state of
 * a pod call it first, so that programming errors are reported as internal errors.
 */
export function rethrowUnexpected(error: unknown): void {
  if (!isExpectedError(error)) throw error;
}

/** Returns the text, or `forRoot` if this process runs as root, to whom a hint to become root is of no use. */
export function unlessRoot(text: string, forRoot: string): string {
  return process.geteuid?.() === 0 ? forRoot : text;
}
