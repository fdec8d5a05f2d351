import {hasErrno} from '../base/errors.js';
import type {OutputStream} from './context.js';

/**
 * A standard stream that may go away: when its reader closes it (`| head -1`) what follows is dropped without
 * an error, and `closed` is aborted, so that whoever only produces output can stop.
 */
export class Output {
  readonly #stream: OutputStream;
  readonly #closed = new AbortController();
  #pending: Promise<void> | undefined;

  constructor(stream: OutputStream) {
    this.#stream = stream;
    stream.on('error', (error) => {
      if (!hasErrno(error, 'EPIPE', 'ERR_STREAM_DESTROYED')) throw error;
      this.#closed.abort();
    });
  }

  /** Aborted when nobody reads any more. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  get isTerminal(): boolean {
    return this.#stream.isTTY === true;
  }

  /** The terminal's width, undefined when there is none. */
  get columns(): number | undefined {
    return this.#stream.columns;
  }

  /** The terminal's height, undefined when there is none. */
  get rows(): number | undefined {
    return this.#stream.rows;
  }

  write(chunk: string | Uint8Array): void {
    if (this.#closed.signal.aborted || chunk.length === 0) return;
    if (!this.#stream.write(chunk)) this.#pending ??= this.#drained();
  }

  /** Resolves when the stream takes more; a producer of much output waits for it now and then. */
  async ready(): Promise<void> {
    await this.#pending;
  }

  async #drained(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#stream.once('drain', resolve);
      this.closed.addEventListener('abort', () => {
        resolve();
      });
    });
    this.#pending = undefined;
  }
}

/** Whether to colour: FORCE_COLOR, then NO_COLOR, then whether it is a terminal that understands colours. */
export function wantsColor(env: Readonly<Record<string, string | undefined>>, output: Output): boolean {
  const force = env['FORCE_COLOR'];
  if (force !== undefined && force !== '') return force !== '0' && force !== 'false';
  if ((env['NO_COLOR'] ?? '') !== '') return false;
  return output.isTerminal && env['TERM'] !== 'dumb';
}
