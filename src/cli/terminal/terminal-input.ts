import type {Writable} from 'node:stream';
import {onAbort} from '../../base/async/abort-callbacks.js';
import type {InputStream} from '../process/standard-input.js';

/** Stops reading standard input once the signal is aborted, so that it does not hold the process open. */
export function stopReadingOnAbort(stdin: InputStream, until: AbortSignal): void {
  onAbort(until, () => {
    stdin.unpipe();
    stdin.pause();
    stdin.unref?.();
  });
}

/**
 * Writes all input into a stream, and ends it at the end of the input, until the signal is aborted. `pipe` would open the
 * standard outputs to compare them with the target, which loads node:net.
 */
export function forwardStream(input: InputStream, target: Writable, until: AbortSignal): void {
  const onData = (chunk: Buffer): void => {
    if (!target.write(chunk)) input.pause();
  };
  const onDrain = (): void => void input.resume();
  const onEnd = (): void => void target.end();
  const stop = (): void => {
    input.off('data', onData).off('end', onEnd);
    target.off('drain', onDrain);
  };
  target.on('drain', onDrain).once('close', stop);
  onAbort(until, stop);
  if (input.readableEnded) onEnd();
  else input.on('data', onData).once('end', onEnd).resume();
}

/** Standard input that is a terminal. `fd` is missing if it is not the terminal of a system. */
export type TerminalInput = InputStream & {
  setRawMode(raw: boolean): unknown;
  readonly fd?: number | undefined;
};

/** Reports whether standard input is a terminal. */
export function isTerminalInput(stdin: InputStream): stdin is TerminalInput {
  return stdin.isTTY === true && 'setRawMode' in stdin;
}
