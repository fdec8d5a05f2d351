import {read} from 'node:fs';
import type {Writable} from 'node:stream';
import {promisify} from 'node:util';

const PIECE = 256 * 1024;
const readInto = promisify(read);

/**
 * Writes a file from where it stands to its end into a stream, and ends that; stops when the signal is aborted. Two
 * buffers take turns, one being read into while the other is written: new ones for each piece, as Node.js's own
 * streams have them, cost more than all the rest.
 */
export async function feedFile(fd: number, target: Writable, until: AbortSignal): Promise<void> {
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

/** Resolves when the piece's memory is free again. What can't be written any more is the target's concern. */
async function write(target: Writable, piece: Buffer): Promise<void> {
  await new Promise<void>((resolve) => {
    target.write(piece, () => {
      resolve();
    });
  });
}
