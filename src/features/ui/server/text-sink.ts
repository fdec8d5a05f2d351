import type {ServerResponse} from 'node:http';
import {drainsWithin} from '../../../base/async/drains-within.js';
import type {Clock} from '../../../base/clock.js';

/** Time in which a client must read on, in ms; a page that is in the background reads too. */
export const STALL_LIMIT_MS = 60_000;

/** A client that stopped reading. */
export class StalledClientError extends Error {}

/** Text of a response that goes on, written no faster than the client reads it. */
export class TextSink {
  readonly #response: ServerResponse;
  readonly #clock: Clock;
  /** Signal that aborts when the client disconnects, its session ends or the server stops. */
  readonly signal: AbortSignal;

  constructor(
    response: ServerResponse,
    {clock, signal}: {readonly clock: Clock; readonly signal: AbortSignal},
  ) {
    this.#response = response;
    this.#clock = clock;
    this.signal = signal;
  }

  /** Writes text. The caller waits with `ready` before it writes more. */
  write(text: string): void {
    this.#response.write(text);
  }

  /** True if the client has not received what was written. */
  get isFull(): boolean {
    return this.#response.writableNeedDrain;
  }

  /** Resolves when more can be written. Rejects with StalledClientError, and with the signal's reason. */
  async ready(): Promise<void> {
    this.signal.throwIfAborted();
    if (!this.isFull) return;
    const isReady = await drainsWithin(this.#response, STALL_LIMIT_MS, this.#clock, this.signal);
    if (!isReady) throw new StalledClientError('the client does not read');
    this.signal.throwIfAborted();
  }
}
