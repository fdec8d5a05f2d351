import {spawn, type ChildProcess} from 'node:child_process';
import {basename, delimiter} from 'node:path';
import {Readable} from 'node:stream';
import {hasErrno, SystemError} from '../../base/errors.js';
import {systemErrorMessage} from '../../base/system-error-message.js';
import {searchDirs} from './search-path.js';

/** Options to run a program. */
export interface HostProgramOptions {
  readonly signal?: AbortSignal | undefined;
  /** Standard input; empty by default. */
  readonly input?: Readable | undefined;
  /** Variables in addition to this process's environment. */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/**
 * Runs a program and resolves with its stdout. Rejects with SystemError, including the last lines of stderr, if it
 * cannot be started or exits with a code other than 0; rejects with the signal's reason if that aborts.
 */
export async function runHostProgram(
  program: string,
  args: readonly string[],
  {signal, input, env}: HostProgramOptions = {},
): Promise<string> {
  const stdin = input === undefined ? 'ignore' : 'pipe';
  const child = startProgram(program, args, {signal, stdin, env});
  const stdout = collect(child.stdout);
  const problem = problemOf(child, [program, ...args], signal);
  const unread = feed(child, input);
  try {
    const programProblem = await problem;
    const inputError = unread();
    if (inputError instanceof SystemError) throw inputError;
    if (inputError !== undefined)
      throw new SystemError(`cannot read the input of "${program}": ${systemErrorMessage(inputError)}`, {
        cause: inputError,
      });
    if (programProblem !== undefined) throw programProblem;
    return stdout();
  } finally {
    input?.destroy();
  }
}

/** Yields a program's stdout while it runs; fails as runHostProgram does. Leaving the loop kills the program. */
export function streamHostProgramOutput(
  program: string,
  args: readonly string[],
  signal: AbortSignal,
): Readable {
  return Readable.from(output(program, args, signal), {objectMode: false});
}

async function* output(
  program: string,
  args: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<Buffer, void> {
  const child = startProgram(program, args, {signal, stdin: 'ignore'});
  const problem = problemOf(child, [program, ...args], signal);
  // Checked only after all output was read.
  problem.catch(() => undefined);
  try {
    if (child.stdout !== null) yield* child.stdout as AsyncIterable<Buffer>;
    const found = await problem;
    if (found !== undefined) throw found;
  } finally {
    child.kill();
  }
}

/** Creates the error for a program that could not be started. */
export function programStartError(program: string, error: unknown): SystemError {
  if (hasErrno(error, 'ENOENT')) return new SystemError(`the program "${program}" is not installed`);
  return new SystemError(`cannot start "${program}": ${systemErrorMessage(error)}`, {cause: error});
}

/** Starts a program. A failure to start is thrown or emitted as the child's `error`; both become SystemErrors. */
function startProgram(
  program: string,
  args: readonly string[],
  {signal, stdin, env}: Omit<HostProgramOptions, 'input'> & {readonly stdin: 'ignore' | 'pipe'},
): ChildProcess {
  signal?.throwIfAborted();
  try {
    return spawn(program, args, {
      stdio: [stdin, 'pipe', 'pipe'],
      env: {...process.env, PATH: searchDirs(process.env['PATH'] ?? '').join(delimiter), ...env},
      signal,
    });
  } catch (error) {
    throw programStartError(program, error);
  }
}

/** Waits for the program's exit and resolves with its error, if any. Rejects if it was not started or is aborted. */
async function problemOf(
  child: ChildProcess,
  [program = '', ...args]: readonly string[],
  signal: AbortSignal | undefined,
): Promise<SystemError | undefined> {
  const stderr = collect(child.stderr);
  const code = await ended(child).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw programStartError(program, error);
  });
  if (code === 0) return undefined;
  const reason = lastLines(stderr()) || (code === undefined ? 'killed by a signal' : `exit code ${code}`);
  return new SystemError(`${[basename(program), ...args].join(' ')}: ${reason}`);
}

/** Resolves with the exit code; undefined if a signal ended the program. */
async function ended(child: ChildProcess): Promise<number | undefined> {
  return await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      resolve(code ?? undefined);
    });
  });
}

/** Pipes the input to the program. Resolves with the error of reading the input, which ends the program. */
function feed(child: ChildProcess, input: Readable | undefined): () => Error | undefined {
  let failure: Error | undefined;
  // A program that exits early closes the pipe; its exit code and stderr explain why.
  child.stdin?.on('error', () => input?.destroy());
  input?.on('error', (error) => {
    failure = error;
    child.kill();
  });
  if (child.stdin !== null) input?.pipe(child.stdin);
  return () => failure;
}

function collect(stream: Readable | null): () => string {
  const chunks: Buffer[] = [];
  stream?.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString('utf8');
}

function lastLines(text: string): string {
  const lines = text.trim().split('\n');
  // containerd's tools also log to stderr.
  const said = lines.filter((line) => !line.startsWith('time="'));
  return said.slice(-3).join('; ');
}
