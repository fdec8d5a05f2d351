import type {ConnectOpts, SocketConstructorOpts} from 'node:net';
import {HeldBuffers, type HeldObserver, type Hold} from './held-buffers.js';
import {PatientSocket} from './patient-socket.js';

/** Told of each piece that comes. Its memory is used again as soon as this returns, unless it is held. */
export type OnPiece = (piece: Buffer, hold: Hold) => void;

/**
 * A patient socket that reads into the same few buffers again and again: the new one that Node.js takes for each
 * read, and the collecting of them, are a third of a long transfer's processor time. Until `takeOver` it is a
 * stream like any other.
 */
export class ReusingSocket extends PatientSocket {
  readonly #reads: Reads;

  constructor() {
    const reads = new Reads();
    super(reads.options);
    this.#reads = reads;
    reads.pass = (piece) => this.push(Buffer.from(piece));
  }

  /** From now on all that comes goes to `onPiece`, and nothing can be read from the stream. */
  takeOver(observer: HeldObserver, onPiece: OnPiece): void {
    this.#reads.buffers.observer = observer;
    this.#reads.pass = (piece, hold) => {
      onPiece(piece, hold);
      return true;
    };
    const early = this.read() as Buffer | null;
    if (early !== null) onPiece(early, () => () => undefined);
    this.resume();
  }
}

/** What is read into next, and whom what was read goes to; the answer says whether to go on reading. */
class Reads {
  readonly buffers = new HeldBuffers();
  pass: (piece: Buffer, hold: Hold) => boolean = () => true;
  #next = this.buffers.unused();

  /** The types know this option for `connect` alone. */
  readonly options: SocketConstructorOpts & ConnectOpts = {
    onread: {
      buffer: () => this.#next.memory,
      callback: (length) => {
        const {memory, hold} = this.#next;
        const goOn = this.pass(memory.subarray(0, length), hold);
        if (this.#next.isHeld) this.#next = this.buffers.unused();
        return goOn;
      },
    },
  };
}
