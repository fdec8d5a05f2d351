import {spawn} from 'node:child_process';
import type {Readable} from 'node:stream';
import {hasErrno, SystemError} from '../base/errors.js';

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
    signal,
  });
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      resolve(code ?? -1);
    });
  });
  // A program that ends early closes the pipe: its exit code and its stderr say why.
  child.stdin?.on('error', () => undefined);
  if (child.stdin !== null) input?.pipe(child.stdin);
  const code = await ended.catch((error: unknown) => {
    signal?.throwIfAborted();
    throw startError(program, error);
  });
  if (code === 0) return stdout();
  throw new SystemError(`${[program, ...args].join(' ')}: ${lastLines(stderr()) || `exit code ${code}`}`);
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
