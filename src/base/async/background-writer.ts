/** Options of {@link BackgroundWriter}. */
export interface BackgroundWriterOptions {
  /** Writes all that waits; it keeps what it could not write. */
  readonly write: () => Promise<void>;
  /** Called when writes start to fail, and again when they fail after a success. */
  readonly onFailure: (error: unknown) => void;
  /**
   * Resolves when it is time to write, or soon after the signal has aborted: what arrives meanwhile is written together. By default,
   * that is what arrives in the same turn.
   */
  readonly gather?: (signal: AbortSignal) => Promise<void>;
  /** Called when nothing waits or is being written. */
  readonly onIdle?: () => void;
}

/** Writes in the background, one write at a time: what arrives during a write is written together by the next one. */
export class BackgroundWriter {
  readonly #options: BackgroundWriterOptions;
  #isDue = false;
  #isFailing = false;
  #writing: Promise<void> | undefined;
  /** Ends the time in which more is gathered. */
  #hurry = new AbortController();
  /** Number of `flush` and `cancel` calls that wait, during which nothing is gathered. */
  #flushes = 0;

  constructor(options: BackgroundWriterOptions) {
    this.#options = options;
  }

  /** Writes soon; what arrives until then is written together. */
  wake(): void {
    this.#isDue = true;
    this.#writing ??= this.#run();
  }

  /** Writes at once what waits. */
  hurry(): void {
    if (this.#writing !== undefined) this.#hurry.abort();
  }

  /** Resolves when all is written or a retry has failed. */
  async flush(): Promise<void> {
    this.#flushes += 1;
    this.hurry();
    await this.#writing;
    if (this.#isFailing) this.wake();
    await this.#writing;
    this.#flushes -= 1;
  }

  /** Writes nothing of what waits. Resolves when the write in progress has ended. */
  async cancel(): Promise<void> {
    this.#flushes += 1;
    this.#isDue = false;
    this.hurry();
    await this.#writing;
    this.#flushes -= 1;
  }

  /** Writes until nothing is left to write or a write fails. Never rejects. */
  async #run(): Promise<void> {
    await Promise.resolve();
    while (this.#isDue) {
      await this.#gather();
      await this.#write();
    }
    this.#writing = undefined;
    this.#hurry = new AbortController();
    this.#options.onIdle?.();
  }

  async #gather(): Promise<void> {
    if (this.#flushes === 0) await this.#options.gather?.(this.#hurry.signal);
    this.#hurry = new AbortController();
  }

  async #write(): Promise<void> {
    // It may have been cancelled.
    if (!this.#isDue) return;
    this.#isDue = false;
    try {
      await this.#options.write();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#options.onFailure(error);
      this.#isFailing = true;
    }
  }
}
