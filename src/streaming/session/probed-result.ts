import type {Readable} from 'node:stream';
import type {Clock} from '../../base/clock.js';
import {FREE_INPUT} from './input-gate.js';
import type {ProcessProbe, RemoteResult} from './session.js';

const MIN_PAUSE_MS = 20;
const MAX_PAUSE_MS = 1000;

/** Session whose process is probed. */
export interface ProbedSession {
  readonly probe: ProcessProbe;
  readonly clock: Clock;
  readonly stdin: {readonly bytesSent: number};
}

/** Resolves when an output has been read completely. */
export async function whenRead(stream: Readable | undefined): Promise<void> {
  if (stream === undefined || stream.readableEnded || stream.destroyed) return;
  await new Promise<void>((resolve) => {
    stream.once('end', resolve).once('close', resolve);
  });
}

/**
 * Resolves with the result of a process that has exited while its input was stuck, after its outputs have been read.
 * Rejects with the signal's reason.
 */
export async function resultAfterOutput(
  session: ProbedSession & {readonly outputs: readonly (Readable | undefined)[]},
  signal: AbortSignal,
): Promise<RemoteResult> {
  for (const output of session.outputs) await whenRead(output);
  for (let pauseMs = MIN_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    await session.clock.sleep(pauseMs, signal);
    const exitCode = await probe(session, signal);
    if (exitCode !== undefined) return {kind: 'exited', exitCode};
  }
}

/**
 * Resolves as resultAfterOutput if the end of the outputs is not reported: when nothing was received for a second after
 * the process has exited.
 */
export async function resultAfterSilence(
  session: ProbedSession & {readonly bytesReceived: () => number},
  signal: AbortSignal,
): Promise<RemoteResult> {
  let exitCode: number | undefined;
  for (;;) {
    const [received, sent] = [session.bytesReceived(), session.stdin.bytesSent];
    await session.clock.sleep(MAX_PAUSE_MS, signal);
    if (received !== session.bytesReceived() || sent !== session.stdin.bytesSent) continue;
    if (exitCode !== undefined) return {kind: 'exited', exitCode};
    exitCode = await probe(session, signal);
  }
}

/** Returns the exit code of the process if its input may be stuck. */
async function probe({probe, stdin}: ProbedSession, signal: AbortSignal): Promise<number | undefined> {
  return stdin.bytesSent < FREE_INPUT ? undefined : await probe.exitCode(signal);
}
