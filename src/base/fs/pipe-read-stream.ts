import {Socket} from 'node:net';
import {Readable} from 'node:stream';
import {getBun} from '../bun.js';

/**
 * Creates a stream of a pipe or FIFO that was opened without blocking. It waits for the first writer and ends when all
 * writers have closed it. It polls like a socket, because a thread blocked in read(2) cannot be interrupted. Bun's
 * sockets do not support pipes, but its files do.
 */
export function createPipeReadStream(fd: number): Readable {
  const bun = getBun();
  return bun === undefined ? new Socket({fd, writable: false}) : Readable.fromWeb(bun.file(fd).stream());
}
