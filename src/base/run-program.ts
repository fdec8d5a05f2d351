import {spawn} from 'node:child_process';
import {text} from 'node:stream/consumers';

/** Options to run a program that receives secrets, which must not show in a process list. */
export interface ProgramOptions {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Written to its standard input. */
  readonly input: string;
  /** Time after which the program is killed. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Result of a program. */
export interface ProgramResult {
  /** Exit code; null if a signal ended the program. */
  readonly exitCode: number | null;
  /** Standard output; standard error is discarded. */
  readonly output: string;
}

/**
 * Runs a program with a request on standard input and a response on standard output. Rejects if the program cannot be
 * started or exceeds its time, and with an AbortError if the signal aborts.
 */
export async function runProgram(
  path: string,
  {args, env, input, timeoutMs, signal}: ProgramOptions,
): Promise<ProgramResult> {
  const child = spawn(path, args, {
    env: {...env},
    stdio: ['pipe', 'pipe', 'ignore'],
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    killSignal: 'SIGKILL',
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  // A program may exit without reading its input.
  child.stdin.on('error', () => undefined).end(input);
  const [output, exitCode] = await Promise.all([text(child.stdout), ended]);
  return {exitCode, output};
}
