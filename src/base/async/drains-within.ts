import type {Writable} from 'node:stream';
import type {Clock} from '../clock.js';
import {finishesWithin} from './deadline.js';

/**
 * Waits until a stream that is full takes more, or is closed, for at most `ms`. Resolves with false if it does neither. Rejects
 * with the signal's reason.
 */
export async function drainsWithin(
  stream: Writable,
  ms: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<boolean> {
  let end = (): void => undefined;
  const drained = new Promise<void>((resolve) => {
    end = resolve;
  });
  stream.on('drain', end).on('close', end);
  try {
    return await finishesWithin(drained, ms, clock, signal);
  } finally {
    stream.off('drain', end).off('close', end);
  }
}
