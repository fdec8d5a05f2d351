import {constants, fstatSync, openSync, writeSync, type Stats} from 'node:fs';
import {Writable} from 'node:stream';
import {isatty} from 'node:tty';
import {bunIfThere, type BunWriter} from '../base/bun.js';

/** A stream that a command writes to. */
export type OutputStream = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

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
    return new SinkOutput(bun.file(file.isFIFO() ? ownPipe(fd) : fd).writer());
  return fd === 1 ? process.stdout : process.stderr;
}

/** Asks fstat(2) first, as node:tty takes its time to load. */
function neverWaits(fd: number, file: Stats): boolean {
  return file.isFile() || (file.isCharacterDevice() && !isatty(fd));
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

class FileOutput extends Writable {
  readonly #fd: number;

  constructor(fd: number) {
    super({decodeStrings: true});
    this.#fd = fd;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    try {
      for (let at = 0; at < chunk.length;) at += writeSync(this.#fd, chunk, at);
      done();
    } catch (error) {
      done(error as Error);
    }
  }
}

class SinkOutput extends Writable {
  readonly #sink: BunWriter;

  constructor(sink: BunWriter) {
    super({decodeStrings: true});
    this.#sink = sink;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    try {
      const taken = this.#sink.write(chunk);
      const flushed = typeof taken === 'number' ? this.#sink.flush() : taken;
      if (typeof flushed === 'number') done();
      else
        flushed.then(() => {
          done();
        }, done);
    } catch (error) {
      done(error as Error);
    }
  }

  /** What nobody has taken by now does not keep the process alive. */
  override _destroy(error: Error | null, done: Done): void {
    this.#sink.unref();
    done(error);
  }
}
