import {read, readSync} from 'node:fs';
import type {Writable} from 'node:stream';
import {promisify} from 'node:util';
import {nextIteration} from '../../base/async/next-iteration.js';
import {createDirectCalls} from '../../base/fs/direct-calls.js';

/**
 * Size of a piece in bytes. If a thread of Node.js reads it, that thread waits on a busy machine for a processor as long
 * as sending the piece takes.
 */
const PIECE = 1024 * 1024;
const readInto = promisify(read);

/**
 * Writes a file from its current position to its end into a stream, and ends the stream. Stops when the signal is
 * aborted. Alternates two buffers: one is filled while the other is written. A new buffer for each piece, as in Node.js
 * streams, costs more than everything else. `mayReadDirectly` allows reading on this thread, which takes a fifth less: the
 * bytes are in the cache of the processor that sends them.
 */
export async function pipeFile(
  fd: number,
  target: Writable,
  until: AbortSignal,
  mayReadDirectly = createDirectCalls(Infinity),
): Promise<void> {
  let [filled, other] = [Buffer.allocUnsafeSlow(PIECE), Buffer.allocUnsafeSlow(PIECE)];
  let written = Promise.resolve();
  while (!until.aborted) {
    const bytesRead = mayReadDirectly()
      ? await readHere(fd, filled)
      : (await readInto(fd, filled, 0, PIECE, null)).bytesRead;
    await written;
    if (bytesRead === 0) break;
    written = write(target, filled.subarray(0, bytesRead));
    [filled, other] = [other, filled];
  }
  if (!until.aborted) target.end();
}

/** Reads a piece on this thread, after events such as signals and output: a target may take each piece at once. */
async function readHere(fd: number, into: Buffer): Promise<number> {
  await nextIteration();
  return readSync(fd, into, 0, PIECE, null);
}

/** Resolves when the memory of the piece can be reused. The target handles write errors. */
async function write(target: Writable, piece: Buffer): Promise<void> {
  await new Promise<void>((resolve) => {
    target.write(piece, () => {
      resolve();
    });
  });
}
