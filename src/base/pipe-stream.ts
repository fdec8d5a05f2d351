import {Socket} from 'node:net';
import {Readable} from 'node:stream';
import {bunIfThere} from './bun.js';

/**
 * What comes through a pipe or FIFO that was opened without blocking, up to when all that write to it have closed it;
 * without one it waits for the first. It waits as for a socket: a thread in read(2) could not be called back. Bun's
 * sockets know no pipes, but its files can do that.
 */
export function pipeStream(fd: number): Readable {
  const bun = bunIfThere();
  return bun === undefined ? new Socket({fd, writable: false}) : Readable.fromWeb(bun.file(fd).stream());
}
