import {messageOf} from '../errors.js';

/** Programming error in background work. */
export class BackgroundError extends Error {
  /** Part of the program that started the work. */
  readonly part: string;

  constructor(part: string, cause: unknown) {
    super(`${part} failed: ${messageOf(cause)}`, {cause});
    this.name = 'BackgroundError';
    this.part = part;
  }
}

/**
 * Runs work in the background that handles its own errors. A rejection is a programming error: it becomes an unhandled
 * rejection that names the part.
 */
export function runInBackground(part: string, work: Promise<unknown>): void {
  work.catch((error: unknown) => {
    throw new BackgroundError(part, error);
  });
}

/** Owns work that its starters do not wait for. */
export class BackgroundWork {
  readonly #onError: (error: BackgroundError) => void;
  readonly #running = new Set<Promise<void>>();

  /** Creates an owner without work. `onError` receives the rejections, which must not be expected ones. */
  constructor(onError: (error: BackgroundError) => void) {
    this.#onError = onError;
  }

  /** Resolves when the work of a part of the program has ended; its rejection is reported. */
  async attempt(part: string, work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.#onError(new BackgroundError(part, error));
    }
  }

  /** Takes over work of a part of the program. */
  start(part: string, work: Promise<unknown>): void {
    const ended = this.attempt(part, work);
    this.#running.add(ended);
    runInBackground(
      part,
      ended.finally(() => this.#running.delete(ended)),
    );
  }

  /** Resolves when no work is in progress. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
