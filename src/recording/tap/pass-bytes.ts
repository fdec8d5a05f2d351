import type {Duplex} from 'node:stream';

/** What is done with the bytes of one direction. */
export interface PassOptions {
  /** Writes what was read to the target. Returns false if the source must wait for the target. */
  readonly write: (chunk: Buffer) => boolean;
  /** Called after the last byte. */
  readonly onEnd: () => void;
  /** Called when the source is closed, for whatever reason. */
  readonly onClose: () => void;
}

/** Passes what a socket receives to another, with back-pressure, and then its end. An error of one ends both. */
export function passBytes(source: Duplex, target: Duplex, {write, onEnd, onClose}: PassOptions): void {
  source.on('data', (chunk: Buffer) => {
    if (!write(chunk)) source.pause();
  });
  target.on('drain', () => {
    source.resume();
  });
  source.on('end', () => {
    onEnd();
    target.end();
  });
  source.on('error', () => {
    target.destroy(); // one side is gone, and with it the connection
  });
  source.on('close', () => {
    onClose();
    target.end();
  });
}
