import {hasErrno, SystemError} from '../../base/errors.js';
import {systemErrorMessage} from '../../base/system-error-message.js';
import type {Deadline} from '../../base/async/deadline.js';
import {CallbackAbortController, onAbort} from '../../base/async/abort-callbacks.js';
import {abortable} from '../../base/async/abortable.js';
import type {CliContext} from '../process/context.js';
import type {OutputStream} from '../process/standard-output.js';

/** Time for the reader to take the remaining output after an interrupt, in ms. */
const LAST_OUTPUT_MS = 1000;

/** Returns a signal that limits the wait for output. It aborts a short time after the interruption, with its reason. */
export function createFlushDeadline({clock, signal}: Pick<CliContext, 'clock' | 'signal'>): Deadline {
  const over = new CallbackAbortController();
  // Made only after an interrupt: aborting one, whose error has a stack, costs as much as the output of a short command.
  let written: AbortController | undefined;
  const begin = (): void => {
    written = new AbortController();
    clock.sleep(LAST_OUTPUT_MS, written.signal).then(
      () => {
        over.abort(signal.reason);
      },
      () => undefined, // all output was written in time
    );
  };
  let forget: (() => void) | undefined;
  if (signal.aborted) begin();
  else forget = onAbort(signal, begin);
  return {
    signal: over.signal,
    [Symbol.dispose]: () => {
      forget?.();
      written?.abort();
    },
  };
}

/**
 * Standard stream that may fail. After its reader closed it (`| head -1`) or a write failed (a full disk), further
 * output is dropped and `closed` aborts, so that producers can stop.
 */
export class Output {
  readonly #stream: OutputStream;
  readonly #name: string;
  readonly #closed = new CallbackAbortController();
  #written: Promise<void> = Promise.resolve();
  #failure: Error | undefined;

  /**
   * Creates an output. Must be called after oclif is loaded: oclif's listener on process.stdout exits on most errors.
   */
  constructor(stream: OutputStream, name: string) {
    this.#stream = stream;
    this.#name = name;
    stream.removeAllListeners('error');
    stream.on('error', (error) => {
      this.#fail(error);
    });
  }

  #fail(error: Error): void {
    if (!hasErrno(error, 'EPIPE', 'ERR_STREAM_DESTROYED')) this.#failure ??= error;
    this.#closed.abort();
  }

  /** Signal that aborts when the reader closes the output. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** Underlying stream, to pipe into. */
  get stream(): OutputStream {
    return this.#stream;
  }

  get isTerminal(): boolean {
    return this.#stream.isTTY === true;
  }

  /** Width of the terminal; undefined if unknown or not a terminal. Serial lines report 0 by 0. */
  get columns(): number | undefined {
    return sizeOf(this.#stream.columns);
  }

  /** Height of the terminal; undefined if unknown or not a terminal. */
  get rows(): number | undefined {
    return sizeOf(this.#stream.rows);
  }

  write(chunk: string | Uint8Array): void {
    if (this.#closed.signal.aborted || chunk.length === 0) return;
    this.#written = new Promise((resolve) => {
      this.#stream.write(chunk, (error) => {
        if (error instanceof Error) this.#fail(error);
        resolve();
      });
    });
  }

  /**
   * Resolves when the stream accepts more; producers of much output await it regularly. Rejects with the signal's
   * reason, because a reader may stall.
   */
  async ready(signal: AbortSignal): Promise<void> {
    if (!this.#stream.writableNeedDrain) return;
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const forget = onAbort(signal, () => {
        reject(signal.reason as Error);
      });
      void this.#written.then(() => {
        forget();
        resolve();
      });
    });
  }

  /** Resolves when everything written so far is taken or lost. Rejects with the signal's reason. */
  async taken(signal: AbortSignal): Promise<void> {
    await abortable(this.#written, signal);
  }

  /**
   * Resolves when everything is written. Rejects with SystemError if a write failed; a closed reader is not an error.
   * Rejects with the signal's reason if it aborts first; pending output is then dropped.
   */
  async flush(signal: AbortSignal): Promise<void> {
    try {
      await abortable(this.#written, signal);
    } catch (error) {
      this.#stream.destroy();
      throw error;
    }
    if (this.#failure !== undefined)
      throw new SystemError(`writing to ${this.#name}: ${systemErrorMessage(this.#failure)}`, {
        cause: this.#failure,
      });
  }
}

function sizeOf(length: number | undefined): number | undefined {
  return length === 0 ? undefined : length;
}

/** Reports whether to use colors: by FORCE_COLOR, then NO_COLOR, then the capabilities of the terminal. */
export function wantsColor(env: Readonly<Record<string, string | undefined>>, output: Output): boolean {
  const force = env['FORCE_COLOR'];
  if (force !== undefined && force !== '') return force !== '0' && force !== 'false';
  if ((env['NO_COLOR'] ?? '') !== '') return false;
  return output.isTerminal && env['TERM'] !== 'dumb';
}
