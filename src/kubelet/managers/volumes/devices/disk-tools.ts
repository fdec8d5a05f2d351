import {hasErrno, SystemError} from '../../../../base/errors.js';
import {runProgram} from '../../../../base/host/run-program.js';
import {systemErrorMessage} from '../../../../base/system-error-message.js';

/** How a disk tool is run. */
export interface ToolOptions {
  /** Time after which the tool is killed, in ms. */
  readonly timeoutMs: number;
  /** Kills the tool; without it, nothing but the time ends it, not even Ctrl-C. */
  readonly signal?: AbortSignal;
  /** Arguments for messages, if those of the tool contain secrets. */
  readonly shownArgs?: readonly string[];
}

/** Result of a disk tool. */
export interface ToolResult {
  /** Exit code; null if a signal ended the tool, undefined if it is not installed. */
  readonly exitCode: number | null | undefined;
  /** Standard output, then the first kilobyte of standard error. */
  readonly output: string;
}

/**
 * Runs a tool such as mkfs(8) on a block device. Rejects with SystemError if it cannot be started or exceeds its time, and
 * with the signal's reason.
 */
export type RunTool = (program: string, args: readonly string[], options: ToolOptions) => Promise<ToolResult>;

/** RunTool of this machine. */
export const runDiskTool: RunTool = async (program, args, {timeoutMs, signal, shownArgs = args}) => {
  try {
    const {exitCode, output, errorOutput} = await runProgram(program, {
      ...{args, input: '', timeoutMs},
      env: {...process.env, LC_ALL: 'C', PATH: toolPath(process.env['PATH'])},
      signal: signal ?? new AbortController().signal,
      detached: signal === undefined,
    });
    return {exitCode, output: output + errorOutput};
  } catch (cause) {
    signal?.throwIfAborted();
    if (hasErrno(cause, 'ENOENT')) return {exitCode: undefined, output: ''};
    const error = toolError([program, ...shownArgs], timeoutMs, cause);
    // The error of Node.js has the arguments.
    throw shownArgs === args ? error : new SystemError(error.message, {hint: error.hint});
  }
};

/** Adds the directories of administration tools, which the PATH of a user who became root with su(1) lacks. */
function toolPath(path = ''): string {
  return [...path.split(':').filter((directory) => directory !== ''), '/usr/sbin', '/sbin'].join(':');
}

function toolError(command: readonly string[], timeoutMs: number, cause: unknown): SystemError {
  const line = command.join(' ');
  if (!isTimeout(cause)) return new SystemError(`cannot run ${line}: ${systemErrorMessage(cause)}`, {cause});
  return new SystemError(`${line}: not finished after ${timeoutMs / 1000} s`, {
    cause,
    hint: 'look with dmesg for errors of the device, and try the command by hand',
  });
}

function isTimeout(error: unknown): boolean {
  const {cause} = error instanceof Error ? error : {};
  return cause instanceof Error && cause.name === 'TimeoutError';
}

/** Returns the text of Go's exec package for the end of a program that failed. */
export function describeExit({exitCode}: ToolResult): string {
  if (exitCode === undefined) return 'executable file not found in $PATH';
  return exitCode === null ? 'signal: killed' : `exit status ${exitCode}`;
}
