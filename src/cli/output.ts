import {hasErrno, SystemError} from '../base/errors.js';
import {systemReason} from '../base/system-reason.js';
import type {TimeLimit} from '../base/time-limit.js';
import {unlessAborted} from '../base/unless-aborted.js';
import type {CliContext} from './context.js';
import type {OutputStream} from './standard-output.js';

/** How long a reader may take when the command is interrupted: it may stand still for ever. */
const LAST_OUTPUT_MS = 1000;

/** How long output may be waited for: until a while after the interruption, with whose reason it is over. */
export function patience({clock, signal}: Pick<CliContext, 'clock' | 'signal'>): TimeLimit {
  const over = new AbortController();
  const written = new AbortController();
  const begin = (): void => {
    clock.sleep(LAST_OUTPUT_MS, written.signal).then(
      () => {
        over.abort(signal.reason);
      },
      () => undefined, // written in time
    );
  };
  if (signal.aborted) begin();
  else signal.addEventListener('abort', begin, {once: true});
  return {
    signal: over.signal,
    [Symbol.dispose]: () => {
      signal.removeEventListener('abort', begin);
      written.abort();
    },
  };
}

/**
 * A standard stream that may go away: when its reader closes it (`| head -1`) or it takes no more (a full disk),
 * what follows is dropped, and `closed` is aborted, so that whoever only produces output can stop.
 */
export class Output {
  readonly #stream: OutputStream;
  readonly #name: string;
  readonly #closed = new AbortController();
  #written: Promise<void> = Promise.resolve();
  #failure: Error | undefined;

  /** To be made after oclif is loaded, whose listener on process.stdout ends the process for most errors. */
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

  /** Aborted when nobody reads any more. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** The stream itself, for who pipes into it. */
  get stream(): OutputStream {
    return this.#stream;
  }

  get isTerminal(): boolean {
    return this.#stream.isTTY === true;
  }

  /** The terminal's width, undefined when there is none or it does not say: serial lines have 0 by 0. */
  get columns(): number | undefined {
    return sizeOf(this.#stream.columns);
  }

  /** The terminal's height, undefined as well. */
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
   * Resolves when the stream takes more; a producer of much output waits for it now and then. Rejects with the
   * signal's reason: a reader may stand still for ever.
   */
  async ready(signal: AbortSignal): Promise<void> {
    if (!this.#stream.writableNeedDrain) return;
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const abort = (): void => {
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', abort, {once: true});
      void this.#written.then(() => {
        signal.removeEventListener('abort', abort);
        resolve();
      });
    });
  }

  /**
   * Resolves when all is written. Throws SystemError when it could not be; that nobody reads it is no error. Throws
   * the signal's reason when that aborts first: then what was not taken is dropped.
   */
  async flush(signal: AbortSignal): Promise<void> {
    try {
      await unlessAborted(this.#written, signal);
    } catch (error) {
      this.#stream.destroy();
      throw error;
    }
    if (this.#failure !== undefined)
      throw new SystemError(`writing to ${this.#name}: ${systemReason(this.#failure)}`, {
        cause: this.#failure,
      });
  }
}

function sizeOf(length: number | undefined): number | undefined {
  return length === 0 ? undefined : length;
}

/** Whether to colour: FORCE_COLOR, then NO_COLOR, then whether it is a terminal that understands colours. */
export function wantsColor(env: Readonly<Record<string, string | undefined>>, output: Output): boolean {
  const force = env['FORCE_COLOR'];
  if (force !== undefined && force !== '') return force !== '0' && force !== 'false';
  if ((env['NO_COLOR'] ?? '') !== '') return false;
  return output.isTerminal && env['TERM'] !== 'dumb';
}
