import {EventEmitter} from 'node:events';
import {constants, fstatSync, openSync, writeSync, type Stats} from 'node:fs';
import {Writable} from 'node:stream';
import {isatty} from 'node:tty';
import {bunIfThere, type BunWriter} from '../base/bun.js';

/** A stream that a command writes to: as much of a Writable as is used. */
export interface OutputStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  readonly writableNeedDrain: boolean;
  write(chunk: string | Uint8Array, done?: Done): boolean;
  on(event: 'error' | 'resize', listener: (error: Error) => void): unknown;
  removeListener(event: 'resize', listener: () => void): unknown;
  removeAllListeners(event: 'error'): unknown;
  destroy(): unknown;
}

type Done = (error?: Error | null) => void;

/**
 * Standard output or error of this process. Files, and devices that are no terminal, are written to without the streams
 * that Node.js and Bun have for it: opening those takes longer than a command. A pipe's reader may stand still, and
 * writing to it at once would hold up all else; there Bun has something below its stream that does not wait either.
 */
export function standardOutput(fd: 1 | 2): OutputStream {
  const file = fstatSync(fd);
  if (neverWaits(fd, file)) return new FileOutput(fd);
  const bun = bunIfThere();
  if (bun !== undefined && (file.isFIFO() || file.isSocket()))
    return sinkOutput(bun.file(file.isFIFO() ? ownPipe(fd) : fd).writer());
  return fd === 1 ? process.stdout : process.stderr;
}

/** Linux' number for the driver of /dev/null, /dev/full and the like. */
const MEMORY_DEVICES = 1;

/** Asks fstat(2) first, as node:tty takes its time to load. */
function neverWaits(fd: number, file: Stats): boolean {
  return file.isFile() || (file.isCharacterDevice() && (file.rdev >> 8 === MEMORY_DEVICES || !isatty(fd)));
}

/**
 * The pipe, opened anew where it can be: that writing to it does not wait then holds for this process alone, and
 * nobody who shares the other one can change it.
 */
function ownPipe(fd: number): number {
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return fd; // It has no reader any more, is another user's, or there is no /proc.
  }
}

/** Has written all when `write` returns, and says so later, as a Writable does, which takes longer to load than help. */
class FileOutput extends EventEmitter implements OutputStream {
  readonly writableNeedDrain = false;
  readonly #fd: number;
  #failure: Error | undefined;

  constructor(fd: number) {
    super();
    this.#fd = fd;
  }

  write(chunk: string | Uint8Array, done?: Done): boolean {
    // What follows something that was lost is no use.
    const isFirstLoss = this.#failure === undefined && !this.#wrote(chunk);
    const failure = this.#failure;
    process.nextTick(() => {
      done?.(failure);
      if (isFirstLoss) this.emit('error', failure);
    });
    return true;
  }

  #wrote(chunk: string | Uint8Array): boolean {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    try {
      for (let at = 0; at < bytes.length;) at += writeSync(this.#fd, bytes, at);
    } catch (error) {
      this.#failure = error as Error;
    }
    return this.#failure === undefined;
  }

  destroy(): void {
    // Nothing waits here.
  }
}

/** Bun's own writer as a stream. */
function sinkOutput(sink: BunWriter): Writable {
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      try {
        const taken = sink.write(chunk);
        const flushed = typeof taken === 'number' ? sink.flush() : taken;
        if (typeof flushed === 'number') done();
        else
          flushed.then(() => {
            done();
          }, done);
      } catch (error) {
        done(error as Error);
      }
    },
    // What nobody has taken by now does not keep the process alive.
    destroy: (error, done) => {
      sink.unref();
      done(error);
    },
  });
}
