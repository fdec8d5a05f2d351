import {spawn, type ChildProcess} from 'node:child_process';
import {delimiter} from 'node:path';
import type {Readable} from 'node:stream';
import {hasErrno, SystemError} from '../base/errors.js';
import {searchDirs} from './search-path.js';

/** How to run a program. */
export interface RunOptions {
  readonly signal?: AbortSignal | undefined;
  /** What it reads from its standard input; default nothing. */
  readonly input?: Readable | undefined;
}

/**
 * Runs a program to its end and gives what it wrote to stdout. Rejects with SystemError, with the last lines
 * of its stderr, when it can't be started or ends with anything but 0; with the signal's reason when aborted.
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  {signal, input}: RunOptions = {},
): Promise<string> {
  signal?.throwIfAborted();
  const child = spawn(program, args, {
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    env: {...process.env, PATH: searchDirs(process.env['PATH'] ?? '').join(delimiter)},
    signal,
  });
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  const unread = feed(child, input);
  const code = await ended(child).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw startError(program, error);
  });
  const inputError = unread();
  if (inputError !== undefined)
    throw new SystemError(`reading the input of "${program}"`, {cause: inputError});
  if (code === 0) return stdout();
  throw new SystemError(`${[program, ...args].join(' ')}: ${lastLines(stderr()) || `exit code ${code}`}`);
}

async function ended(child: ChildProcess): Promise<number> {
  return await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      resolve(code ?? -1);
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

function startError(program: string, error: unknown): SystemError {
  if (!hasErrno(error, 'ENOENT')) return new SystemError(`starting "${program}"`, {cause: error});
  return new SystemError(`the program "${program}" is not installed`);
}

function collect(stream: Readable | null): () => string {
  const chunks: Buffer[] = [];
  stream?.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString('utf8');
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-3).join('; ');
}
