import {read} from 'node:fs';
import type {Writable} from 'node:stream';
import {promisify} from 'node:util';

/**
 * Size of a piece in bytes. A thread of Node.js reads each piece; on a busy machine, it waits for a processor as long as
 * sending the piece takes.
 */
const PIECE = 1024 * 1024;
const readInto = promisify(read);

/**
 * Writes a file from its current position to its end into a stream, and ends the stream. Stops when the signal is
 * aborted. Alternates two buffers: one is filled while the other is written. A new buffer for each piece, as in Node.js
 * streams, costs more than everything else.
 */
export async function pipeFile(fd: number, target: Writable, until: AbortSignal): Promise<void> {
  let [filled, other] = [Buffer.allocUnsafeSlow(PIECE), Buffer.allocUnsafeSlow(PIECE)];
  let written = Promise.resolve();
  while (!until.aborted) {
    const {bytesRead} = await readInto(fd, filled, 0, PIECE, null);
    await written;
    if (bytesRead === 0) break;
    written = write(target, filled.subarray(0, bytesRead));
    [filled, other] = [other, filled];
  }
  if (!until.aborted) target.end();
}

/** Resolves when the memory of the piece can be reused. The target handles write errors. */
async function write(target: Writable, piece: Buffer): Promise<void> {
  await new Promise<void>((resolve) => {
    target.write(piece, () => {
      resolve();
    });
  });
}
