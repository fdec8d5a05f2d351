/** Options of {@link BackgroundWriter}. */
export interface BackgroundWriterOptions {
  /** Writes all that waits; it keeps what it could not write. */
  readonly write: () => Promise<void>;
  /** Called when writes start to fail, and again when they fail after a success. */
  readonly onFailure: (error: unknown) => void;
}

/** Writes in the background, one write at a time: what arrives during a write is written together by the next one. */
export class BackgroundWriter {
  readonly #options: BackgroundWriterOptions;
  #isDue = false;
  #isFailing = false;
  #writing: Promise<void> | undefined;

  constructor(options: BackgroundWriterOptions) {
    this.#options = options;
  }

  /** Writes soon; what arrives in the same turn is written together. */
  wake(): void {
    this.#isDue = true;
    this.#writing ??= this.#run();
  }

  /** Resolves when all is written or a retry has failed. */
  async flush(): Promise<void> {
    await this.#writing;
    if (this.#isFailing) this.wake();
    await this.#writing;
  }

  /** Writes until nothing is left to write or a write fails. Never rejects. */
  async #run(): Promise<void> {
    await Promise.resolve();
    while (this.#isDue) {
      this.#isDue = false;
      try {
        await this.#options.write();
        this.#isFailing = false;
      } catch (error) {
        if (!this.#isFailing) this.#options.onFailure(error);
        this.#isFailing = true;
      }
    }
    this.#writing = undefined;
  }
}
