import {fstatSync, writeSync} from 'node:fs';
import {Writable} from 'node:stream';
import {isatty} from 'node:tty';

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
 * writing to it at once would hold up all else.
 */
export function standardOutput(fd: 1 | 2): OutputStream {
  if (neverWaits(fd)) return new FileOutput(fd);
  return fd === 1 ? process.stdout : process.stderr;
}

/** Asks fstat(2) first, as node:tty takes its time to load. */
function neverWaits(fd: number): boolean {
  const file = fstatSync(fd);
  return file.isFile() || (file.isCharacterDevice() && !isatty(fd));
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
