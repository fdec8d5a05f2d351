import {Writable} from 'node:stream';
import type {WebSocket} from 'ws';
import {onAbort} from '../../../base/async/abort-callbacks.js';
import {drainsWithin} from '../../../base/async/drains-within.js';
import type {Clock} from '../../../base/clock.js';
import {STALL_LIMIT_MS} from '../server/text-sink.js';

/** Output on its way to a page, which may ask to wait. Output for a closed connection is discarded. */
export class TerminalOutput extends Writable {
  readonly #client: Pick<WebSocket, 'send'>;
  #isPaused = false;
  #resume: (() => void) | undefined;

  /** `closed` aborts when the connection ends. */
  constructor(client: Pick<WebSocket, 'send'>, closed: AbortSignal) {
    super();
    this.#client = client;
    onAbort(closed, () => {
      this.setPaused(false);
    });
  }

  /** Holds back output, or continues. */
  setPaused(isPaused: boolean): void {
    this.#isPaused = isPaused;
    if (isPaused) return;
    this.#resume?.();
    this.#resume = undefined;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    const send = (): void => {
      this.#client.send(chunk, () => {
        done();
      });
    };
    if (this.#isPaused) this.#resume = send;
    else send();
  }
}

/** Input from a page, written no faster than the program reads it. */
export class TerminalInput {
  readonly #client: Pick<WebSocket, 'pause' | 'resume' | 'terminate'>;
  readonly #stdin: Writable | undefined;
  readonly #clock: Clock;
  readonly #closed: AbortSignal;
  #isWaiting = false;

  constructor(
    client: Pick<WebSocket, 'pause' | 'resume' | 'terminate'>,
    stdin: Writable | undefined,
    {clock, closed}: {readonly clock: Clock; readonly closed: AbortSignal},
  ) {
    this.#client = client;
    this.#stdin = stdin;
    this.#clock = clock;
    this.#closed = closed;
  }

  /** Writes input; input for a program that reads no more is discarded. */
  write(data: Buffer): void {
    const stdin = this.#stdin;
    if (stdin === undefined || stdin.writableEnded || stdin.destroyed || stdin.write(data)) return;
    if (!this.#isWaiting) void this.#waitFor(stdin);
  }

  /**
   * Stops reading from the client until the program reads on. Without reading, the end of the connection is not seen:
   * the wait has a limit, after which the connection is closed. Never rejects.
   */
  async #waitFor(stdin: Writable): Promise<void> {
    this.#isWaiting = true;
    this.#client.pause();
    try {
      if (await drainsWithin(stdin, STALL_LIMIT_MS, this.#clock, this.#closed)) this.#client.resume();
      else this.#client.terminate();
    } catch {
      // The connection is closed.
    } finally {
      this.#isWaiting = false;
    }
  }
}
