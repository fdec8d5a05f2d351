/** Size from which nothing should be written, as in Node.js. */
const FULL_BYTES = 64 * 1024;

/**
 * The writing half of a socket: collects what it has to send, while the connection is not open, corked, or the kernel accepts
 * no more.
 */
export abstract class BufferedSocket {
  readonly #onDrain: () => void;
  #state: 'connecting' | 'open' | 'closed' = 'connecting';
  #isCorked = false;
  /** Bytes that were handed to `send` and are not sent. */
  #pendingBytes = 0;
  /** True if `needsDrain` has been true since the last onDrain. */
  #wasFull = false;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;

  constructor(onDrain: () => void) {
    this.#onDrain = onDrain;
  }

  /** Sends chunks, or as much as possible, and returns how many bytes remain; `onSent` is called after these are sent. */
  protected abstract send(chunks: readonly Buffer[]): number;

  get needsDrain(): boolean {
    return this.#waitingBytes + this.#pendingBytes >= FULL_BYTES;
  }

  get hasUnsent(): boolean {
    return this.#waitingBytes + this.#pendingBytes > 0;
  }

  write(bytes: Buffer): void {
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    this.#wasFull ||= this.needsDrain;
    this.#flush();
  }

  cork(): void {
    this.#isCorked = true;
  }

  uncork(): void {
    this.#isCorked = false;
    this.#flush();
  }

  protected get isOpen(): boolean {
    return this.#state === 'open';
  }

  protected get isClosed(): boolean {
    return this.#state === 'closed';
  }

  /** Starts to send: the connection is open. */
  protected open(): void {
    if (this.isClosed) return;
    this.#state = 'open';
    this.#flush();
  }

  /** Sends nothing from now on, and calls nothing. */
  protected close(): void {
    this.#state = 'closed';
  }

  /** Continues after what had remained of the last `send` is sent. */
  protected onSent(): void {
    this.#pendingBytes = 0;
    this.#flush();
  }

  #flush(): void {
    if (!this.isOpen || this.#isCorked || this.#pendingBytes > 0) return;
    if (this.#waitingBytes > 0) {
      const chunks = this.#waiting;
      this.#waiting = [];
      this.#waitingBytes = 0;
      this.#pendingBytes = this.send(chunks);
    }
    if (!this.#wasFull || this.#pendingBytes > 0) return;
    this.#wasFull = false;
    // As in Node.js, not within the write.
    setImmediate(() => {
      if (this.isOpen) this.#onDrain();
    });
  }
}
