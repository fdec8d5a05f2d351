/** Size from which nothing should be written, as in Node.js. */
const FULL_BYTES = 64 * 1024;

/** Collects what a socket has to send, while the connection is not open, corked, or the kernel takes no more. */
export class SendBuffer {
  readonly #send: (chunks: readonly Buffer[]) => number;
  readonly #onDrain: () => void;
  #isOpen = false;
  #isCorked = false;
  /** Bytes that were handed to `send` and are not sent. */
  #pendingBytes = 0;
  /** True if `needsDrain` has been true since the last onDrain. */
  #wasFull = false;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;

  /** `send` sends chunks, or as much as possible, and returns how many bytes remain, of which `onSent` tells. */
  constructor(send: (chunks: readonly Buffer[]) => number, onDrain: () => void) {
    this.#send = send;
    this.#onDrain = onDrain;
  }

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

  /** Starts to send: the connection is open. */
  open(): void {
    this.#isOpen = true;
    this.#flush();
  }

  /** Sends nothing from now on, and calls nothing. */
  close(): void {
    this.#isOpen = false;
  }

  /** Continues after what had remained of the last `send` is sent. */
  onSent(): void {
    this.#pendingBytes = 0;
    this.#flush();
  }

  #flush(): void {
    if (!this.#isOpen || this.#isCorked || this.#pendingBytes > 0) return;
    if (this.#waitingBytes > 0) {
      const chunks = this.#waiting;
      this.#waiting = [];
      this.#waitingBytes = 0;
      this.#pendingBytes = this.#send(chunks);
    }
    if (!this.#wasFull || this.#pendingBytes > 0) return;
    this.#wasFull = false;
    // As in Node.js, not within the write.
    setImmediate(() => {
      if (this.#isOpen) this.#onDrain();
    });
  }
}
