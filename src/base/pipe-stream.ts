import {Socket} from 'node:net';
import {Readable} from 'node:stream';
import type {ReadableStream} from 'node:stream/web';

/** What Bun has beside Node.js's modules, as far as it is needed here. */
interface BunFiles {
  file(fd: number): {stream(): ReadableStream};
}

/**
 * What comes through a pipe or FIFO that was opened without blocking, up to when all that write to it have closed it;
 * without one it waits for the first. It waits as for a socket: a thread in read(2) could not be called back. Bun's
 * sockets know no pipes, but its files can do that.
 */
export function pipeStream(fd: number): Readable {
  const {Bun} = globalThis as {readonly Bun?: BunFiles};
  return Bun === undefined ? new Socket({fd, writable: false}) : Readable.fromWeb(Bun.file(fd).stream());
}
