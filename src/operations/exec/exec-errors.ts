import {KcriError, type KcriErrorOptions} from '../../base/errors.js';
import {formatGoSeconds} from '../../format/duration.js';
import {execTimeoutMessage} from '../../format/exec-error.js';

/** A command in a container could not be started, or the runtime lost it, so that it has no exit code. */
export class ExecFailedError extends KcriError {
  readonly code = 'EXEC_FAILED';
  override readonly exitCode: number;
  readonly #reason: string;

  /** `message` is the runtime's text. */
  constructor(message: string, options: KcriErrorOptions = {}) {
    super(message, options);
    const failure = startFailure(message);
    this.exitCode = failure?.exitCode ?? 1;
    this.#reason = failure?.reason ?? message;
  }

  override get plainMessage(): string {
    return this.#reason;
  }
}

/** Exit codes of shells for a missing command and a command that cannot be executed. */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

/** Returns the error with a hint if the container, named `ref`, has no such program; other errors are unchanged. */
export function withToolsHint(error: unknown, ref: string): unknown {
  if (!(error instanceof ExecFailedError) || error.exitCode !== NOT_FOUND) return error;
  const hint = `"kcri debug --image=busybox ${ref}" runs a shell with tools in the namespaces of the container`;
  return new ExecFailedError(error.message, {hint, cause: error});
}

/** Texts of runc and crun inside the errors of runtimes. */
const START_FAILURES: readonly (readonly [RegExp, number])[] = [
  [/exec: ("(?:[^"\\]|\\.)*": executable file not found in \$PATH)/, NOT_FOUND],
  [/exec: ("(?:[^"\\]|\\.)*": (?:stat \S+: )?no such file or directory)/, NOT_FOUND],
  [/(executable file `[^`]*` not found[^:\n]*)/, NOT_FOUND],
  [/exec: ("(?:[^"\\]|\\.)*": (?:permission denied|is a directory))/, NOT_EXECUTABLE],
  [/(exec \S+: exec format error)/, NOT_EXECUTABLE],
];

/** Quoted message of a log line of runc, which CRI-O passes on. */
const LOG_MESSAGE = /\bmsg="((?:[^"\\]|\\.)*)"/;

/**
 * Returns the reason why a command could not be started, and the exit code that shells use for it. Returns undefined
 * for any other failure.
 */
export function startFailure(text: string): {readonly reason: string; readonly exitCode: number} | undefined {
  const [, quoted] = LOG_MESSAGE.exec(text) ?? [];
  const message = quoted?.replaceAll(/\\(.)/g, '$1') ?? text;
  for (const [pattern, exitCode] of START_FAILURES) {
    const [, reason] = pattern.exec(message) ?? [];
    if (reason !== undefined) return {reason, exitCode};
  }
  return undefined;
}

/** A command ended with a nonzero exit code; the message is crictl's. */
export class CommandExitError extends KcriError {
  readonly code = 'COMMAND_EXITED';
  override readonly exitCode: number;

  constructor(exitCode: number, message = `command terminated with exit code ${exitCode}`) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** A command exceeded its timeout. */
export class ExecTimeoutError extends KcriError {
  readonly code = 'TIMED_OUT';
  /** Exit code of coreutils' `timeout`. */
  override readonly exitCode = 124;
  readonly #seconds: number;

  constructor(command: readonly string[], seconds: number, options: KcriErrorOptions = {}) {
    super(execTimeoutMessage(command, seconds), options);
    this.#seconds = seconds;
  }

  override get plainMessage(): string {
    return `timed out after ${formatGoSeconds(this.#seconds)}`;
  }
}
