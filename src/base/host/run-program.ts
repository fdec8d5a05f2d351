import {spawn} from 'node:child_process';
import type {Readable} from 'node:stream';
import {text} from 'node:stream/consumers';
import {anySignal} from '../async/any-signal.js';
import {startTimer} from '../async/timer.js';

/** Options to run a program that receives secrets, which must not show in a process list. */
export interface ProgramOptions {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Written to its standard input. */
  readonly input: string;
  /** Time after which the program is killed. */
  readonly timeoutMs: number;
  /** Maximum size of its standard output; a program that writes more is killed. 16 MiB by default. */
  readonly maxOutputBytes?: number;
  /** True for a session of its own, which the signals of a terminal, such as Ctrl-C, do not reach; false by default. */
  readonly detached?: boolean;
  readonly signal: AbortSignal;
}

/** Result of a program. */
export interface ProgramResult {
  /** Exit code; null if a signal ended the program. */
  readonly exitCode: number | null;
  readonly output: string;
  /** First kilobyte of its standard error. */
  readonly errorOutput: string;
}

const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
const MAX_ERROR_BYTES = 1024;

/**
 * Runs a program with a request on standard input and a response on standard output. Rejects if the program cannot be
 * started, exceeds its time or writes too much, and with an AbortError if the signal aborts.
 */
export async function runProgram(
  path: string,
  {args, env, input, timeoutMs, maxOutputBytes = MAX_OUTPUT_BYTES, detached = false, signal}: ProgramOptions,
): Promise<ProgramResult> {
  const exceeded = new AbortController();
  using either = anySignal(signal, exceeded.signal);
  const stopTimer = startTimer(timeoutMs, () => {
    exceeded.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  });
  try {
    const child = spawn(path, args, {
      env: {...env},
      stdio: ['pipe', 'pipe', 'pipe'],
      detached,
      signal: either.signal,
      killSignal: 'SIGKILL',
    });
    const ended = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject).once('close', resolve);
    });
    // A program may exit without reading its input.
    child.stdin.on('error', () => undefined).end(input);
    let size = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxOutputBytes) exceeded.abort();
    });
    const errorOutput = firstBytes(child.stderr, MAX_ERROR_BYTES);
    const [output, exitCode] = await Promise.all([text(child.stdout), ended]);
    return {exitCode, output, errorOutput: await errorOutput};
  } finally {
    stopTimer();
  }
}

/** Resolves with the beginning of a stream, which is read to its end; empty if it fails. */
async function firstBytes(stream: Readable, count: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (size < count) chunks.push(chunk.subarray(0, count - size));
      size += chunk.length;
    }
  } catch {
    return ''; // the program was killed
  }
  return Buffer.concat(chunks).toString();
}
