import {spawn} from 'node:child_process';
import {text} from 'node:stream/consumers';

/** How a program is run whose secrets no process list may show. */
export interface ProgramOptions {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Given to its standard input. */
  readonly input: string;
  /** It is killed after this time. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** How a program has ended. */
export interface ProgramEnd {
  /** Null for one that a signal has ended. */
  readonly exitCode: number | null;
  /** Its standard output; what it says on standard error is dropped. */
  readonly output: string;
}

/**
 * Runs a program that is told something on standard input and answers on standard output. Rejects when it can't be
 * started or its time is up, and with an AbortError when the signal aborts.
 */
export async function runProgram(
  path: string,
  {args, env, input, timeoutMs, signal}: ProgramOptions,
): Promise<ProgramEnd> {
  const child = spawn(path, args, {
    env: {...env},
    stdio: ['pipe', 'pipe', 'ignore'],
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    killSignal: 'SIGKILL',
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  // One that ends before it has read has said all it will.
  child.stdin.on('error', () => undefined).end(input);
  const [output, exitCode] = await Promise.all([text(child.stdout), ended]);
  return {exitCode, output};
}
