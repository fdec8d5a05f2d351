import {read, readSync, type Stats} from 'node:fs';
import type {Writable} from 'node:stream';
import {promisify} from 'node:util';
import {createDirectCalls} from '../../base/fs/direct-calls.js';

/**
 * Size of a piece in bytes. A thread of Node.js reads each piece; on a busy machine, it waits for a processor as long as
 * sending the piece takes.
 */
const PIECE = 1024 * 1024;
/** Pieces to read without a thread: an input of up to two megabytes, and its end. */
const DIRECT_READS = 3;
/** Device number of /dev/null. */
const NULL_DEVICE = 0x103;

/**
 * Writes a file from its current position to its end into a stream, and ends the stream. Stops when the signal is
 * aborted. Alternates two buffers: one is filled while the other is written. A new buffer for each piece, as in Node.js
 * streams, costs more than everything else. `isDirect` reports whether the next piece is read without a thread.
 */
export async function pipeFile(
  fd: number,
  target: Writable,
  {until, isDirect}: {readonly until: AbortSignal; readonly isDirect: () => boolean},
): Promise<void> {
  let [filled, other] = [Buffer.allocUnsafeSlow(PIECE), Buffer.allocUnsafeSlow(PIECE)];
  let written = Promise.resolve();
  while (!until.aborted) {
    const bytesRead = isDirect() ? readSync(fd, filled, 0, PIECE, null) : await readByThread(fd, filled);
    await written;
    if (bytesRead === 0) break;
    written = write(target, filled.subarray(0, bytesRead));
    [filled, other] = [other, filled];
  }
  if (!until.aborted) target.end();
}

/**
 * Returns the `isDirect` of a file. Threads take longer to start than a short input takes to read. Files of the kernel
 * without a size may wait for their next record for ever.
 */
export function createDirectReads(
  file: Pick<Stats, 'isFile' | 'size' | 'rdev'>,
  createCalls = createDirectCalls,
): () => boolean {
  if (file.rdev === NULL_DEVICE) return () => true;
  return file.isFile() && file.size > 0 ? createCalls(DIRECT_READS) : () => false;
}

async function readByThread(fd: number, piece: Buffer): Promise<number> {
  return (await promisify(read)(fd, piece, 0, piece.length, null)).bytesRead;
}

/** Resolves when the memory of the piece can be reused. The target handles write errors. */
async function write(target: Writable, piece: Buffer): Promise<void> {
  await new Promise<void>((resolve) => {
    target.write(piece, () => {
      resolve();
    });
  });
}
