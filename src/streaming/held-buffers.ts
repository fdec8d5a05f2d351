/** Keeps a piece's memory from being used again until the function that it gives is called. */
export type Hold = () => () => void;

/** Told when so much is held that reading must rest, and when it may go on. */
export interface HeldObserver {
  full(): void;
  free(): void;
}

/** With buffers of this size few reads are needed, and what is read stays in the processor's cache. */
const LENGTH = 128 * 1024;
/** Makes 1 MiB for each connection. */
const MAX_HELD = 8;

/** Memory to read into, and whether the readers of what it had are done with it. */
export class HeldBuffer {
  readonly memory = Buffer.allocUnsafeSlow(LENGTH);
  readonly #owner: HeldBuffers;
  #holders = 0;

  constructor(owner: HeldBuffers) {
    this.#owner = owner;
  }

  get isHeld(): boolean {
    return this.#holders > 0;
  }

  readonly hold: Hold = () => {
    if (this.#holders === 0) this.#owner.taken();
    this.#holders += 1;
    return this.#release;
  };

  readonly #release = (): void => {
    this.#holders -= 1;
    if (this.#holders === 0) this.#owner.released(this);
  };
}

/** The buffers of one connection: made when they are needed, used again when nobody holds them. */
export class HeldBuffers {
  observer: HeldObserver | undefined;
  readonly #unused: HeldBuffer[] = [];
  #held = 0;

  /** One that nobody holds. */
  unused(): HeldBuffer {
    return this.#unused.pop() ?? new HeldBuffer(this);
  }

  taken(): void {
    this.#held += 1;
    if (this.#held === MAX_HELD) this.observer?.full();
  }

  released(buffer: HeldBuffer): void {
    this.#unused.push(buffer);
    this.#held -= 1;
    if (this.#held === MAX_HELD - 1) this.observer?.free();
  }
}
