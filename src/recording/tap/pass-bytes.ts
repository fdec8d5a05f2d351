import type {Duplex} from 'node:stream';
import {runInBackground} from '../../base/async/background-work.js';
import type {Clock} from '../../base/clock.js';
import {closeGracefully} from '../../base/net/graceful-close.js';
import type {ReadState} from '../../streaming/socket/read-state.js';

/** What is done with the bytes of one direction. */
export interface PassOptions {
  /** Memory that the source reads into, in place of 'data' events. It is reused unless the target still needs it. */
  readonly reads?: ReadState | undefined;
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
export function passBytes(source: Duplex, target: Duplex, options: PassOptions): void {
  const {onEnd, onClose, clock} = options;
  receive(source, target, options);
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

function receive(source: Duplex, target: Duplex, {reads, write}: PassOptions): void {
  // A target that is destroyed gets nothing, and no 'drain' would follow.
  const pass = (chunk: Buffer): boolean => target.destroyed || write(chunk);
  if (reads === undefined)
    source.on('data', (chunk: Buffer) => {
      if (!pass(chunk)) source.pause();
    });
  else
    reads.pass = (chunk, retain) => {
      // What waits behind another chunk is copied: it may be much shorter than the memory.
      if (target.writableLength > 0) return pass(Buffer.from(chunk));
      const goesOn = pass(chunk);
      // Never released: the memory is collected after the write.
      if (target.writableLength > 0) retain();
      return goesOn;
    };
}
