import {spawn, type ChildProcess} from 'node:child_process';
import {basename, delimiter} from 'node:path';
import {Readable} from 'node:stream';
import {hasErrno, SystemError} from '../base/errors.js';
import {systemReason} from '../base/system-reason.js';
import {searchDirs} from './search-path.js';

/** How to run a program. */
export interface RunOptions {
  readonly signal?: AbortSignal | undefined;
  /** What it reads from its standard input; default nothing. */
  readonly input?: Readable | undefined;
  /** On top of this process's environment. */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/**
 * Runs a program to its end and gives what it wrote to stdout. Rejects with SystemError, with the last lines
 * of its stderr, when it can't be started or ends with anything but 0; with the signal's reason when aborted.
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  {signal, input, env}: RunOptions = {},
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
      throw new SystemError(`reading the input of "${program}": ${systemReason(inputError)}`, {
        cause: inputError,
      });
    if (programProblem !== undefined) throw programProblem;
    return stdout();
  } finally {
    input?.destroy();
  }
}

/** What a program writes to stdout, while it runs; at its end errors as runProgram's. Whoever stops reading ends it. */
export function programOutput(program: string, args: readonly string[], signal: AbortSignal): Readable {
  return Readable.from(output(program, args, signal), {objectMode: false});
}

async function* output(
  program: string,
  args: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<Buffer, void> {
  const child = startProgram(program, args, {signal, stdin: 'ignore'});
  const problem = problemOf(child, [program, ...args], signal);
  // It is looked at only when all has been read.
  problem.catch(() => undefined);
  try {
    if (child.stdout !== null) yield* child.stdout as AsyncIterable<Buffer>;
    const found = await problem;
    if (found !== undefined) throw found;
  } finally {
    child.kill();
  }
}

/** The error of a program that could not be started. */
export function startError(program: string, error: unknown): SystemError {
  if (hasErrno(error, 'ENOENT')) return new SystemError(`the program "${program}" is not installed`);
  return new SystemError(`starting "${program}": ${systemReason(error)}`, {cause: error});
}

/** What keeps a program from being started comes at once or as the child's `error`; both are SystemErrors. */
function startProgram(
  program: string,
  args: readonly string[],
  {signal, stdin, env}: Omit<RunOptions, 'input'> & {readonly stdin: 'ignore' | 'pipe'},
): ChildProcess {
  signal?.throwIfAborted();
  try {
    return spawn(program, args, {
      stdio: [stdin, 'pipe', 'pipe'],
      env: {...process.env, PATH: searchDirs(process.env['PATH'] ?? '').join(delimiter), ...env},
      signal,
    });
  } catch (error) {
    throw startError(program, error);
  }
}

/** Waits for the program's end: why it failed, if it did. Rejects when it was not started or is aborted. */
async function problemOf(
  child: ChildProcess,
  [program = '', ...args]: readonly string[],
  signal: AbortSignal | undefined,
): Promise<SystemError | undefined> {
  const stderr = collect(child.stderr);
  const code = await ended(child).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw startError(program, error);
  });
  if (code === 0) return undefined;
  const reason = lastLines(stderr()) || (code === undefined ? 'ended by a signal' : `exit code ${code}`);
  return new SystemError(`${[basename(program), ...args].join(' ')}: ${reason}`);
}

/** The exit code; undefined when a signal ended it. */
async function ended(child: ChildProcess): Promise<number | undefined> {
  return await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      resolve(code ?? undefined);
    });
  });
}

/** Pipes the input to the program. The result tells why the input itself failed, which ends the program. */
function feed(child: ChildProcess, input: Readable | undefined): () => Error | undefined {
  let failure: Error | undefined;
  // A program that ends early closes the pipe: its exit code and its stderr say why.
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
  // containerd's tools log there as well.
  const said = lines.filter((line) => !line.startsWith('time="'));
  return said.slice(-3).join('; ');
}
