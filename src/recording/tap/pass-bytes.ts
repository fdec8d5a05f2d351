import type {Duplex} from 'node:stream';
import {runInBackground} from '../../base/async/background-work.js';
import type {Clock} from '../../base/clock.js';
import {closeGracefully} from '../../base/net/graceful-close.js';

/** What is done with the bytes of one direction. */
export interface PassOptions {
  /** Writes what was read to the target. Returns false if the source must wait for the target. */
  readonly write: (chunk: Buffer) => boolean;
  /** Called after the last byte. */
  readonly onEnd: () => void;
  /** Called when the source is closed, for whatever reason. */
  readonly onClose: () => void;
  /** Limits the time in which the target has to close after the source. */
  readonly clock: Clock;
}

/** Passes what a socket receives to another, with back-pressure, and then its end. The end of one ends both. */
export function passBytes(source: Duplex, target: Duplex, {write, onEnd, onClose, clock}: PassOptions): void {
  source.on('data', (chunk: Buffer) => {
    // Nobody gets it, and no 'drain' would follow.
    if (target.destroyed) return;
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
    // The target may be paused until the source drains, which it never will.
    runInBackground('relay', closeGracefully(target, clock));
  });
}
