/** Function that prevents the reuse of a chunk's memory until the returned function is called. */
export type RetainBuffer = () => () => void;

/** Observer that is called when too many buffers are retained, so that reading must pause, and when it may continue. */
export interface BufferPressureObserver {
  full(): void;
  free(): void;
}

/** Buffer size in bytes: large enough for few reads, small enough for the CPU cache. */
const BUFFER_BYTES = 128 * 1024;
/** Maximum number of retained buffers, 1 MiB per connection. */
const MAX_RETAINED = 8;

/** Read buffer that counts its users. */
export class ReadBuffer {
  readonly memory = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  readonly #owner: ReadBufferPool;
  #users = 0;

  constructor(owner: ReadBufferPool) {
    this.#owner = owner;
  }

  get isRetained(): boolean {
    return this.#users > 0;
  }

  readonly retain: RetainBuffer = () => {
    if (this.#users === 0) this.#owner.onRetained();
    this.#users += 1;
    return this.#release;
  };

  readonly #release = (): void => {
    this.#users -= 1;
    if (this.#users === 0) this.#owner.onReleased(this);
  };
}

/** Pool of the read buffers of one connection, allocated on demand and reused when not retained. */
export class ReadBufferPool {
  observer: BufferPressureObserver | undefined;
  readonly #unused: ReadBuffer[] = [];
  #retained = 0;

  /** Returns a buffer that is not retained. */
  acquire(): ReadBuffer {
    return this.#unused.pop() ?? new ReadBuffer(this);
  }

  onRetained(): void {
    this.#retained += 1;
    if (this.#retained === MAX_RETAINED) this.observer?.full();
  }

  onReleased(buffer: ReadBuffer): void {
    this.#unused.push(buffer);
    this.#retained -= 1;
    if (this.#retained === MAX_RETAINED - 1) this.observer?.free();
  }
}
