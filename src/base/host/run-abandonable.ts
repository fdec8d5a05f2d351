import {spawn} from 'node:child_process';
import {Socket} from 'node:net';
import type {Readable} from 'node:stream';
import {abortable} from '../async/abortable.js';

/** Result of a program that has ended. */
export interface AbandonableResult {
  /** Exit code; null if a signal ended the program. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a program that may hang, such as one that asks a server for its file system, with messages in English. It is killed, and left
 * alone if it does not end, when the signal aborts; it does not keep this process from exiting. Rejects with the signal's reason, and
 * with the error of spawn.
 */
export async function runAbandonable(
  program: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<AbandonableResult> {
  signal.throwIfAborted();
  const env = {...process.env, LC_ALL: 'C'};
  const child = spawn(program, args, {env, stdio: ['ignore', 'pipe', 'pipe'], detached: true});
  child.unref();
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  const output = {stdout: '', stderr: ''};
  for (const name of ['stdout', 'stderr'] as const) {
    // Without free file descriptors there are no streams, only an error.
    const stream = child[name] as Readable | undefined;
    stream?.on('data', (chunk: Buffer) => (output[name] += chunk.toString()));
    if (stream instanceof Socket) stream.unref();
  }
  try {
    return {exitCode: await abortable(ended, signal), ...output};
  } finally {
    // Without a process, the signal would be sent to the group of this one.
    if (child.pid !== undefined) child.kill('SIGKILL');
  }
}
