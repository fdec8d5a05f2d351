import type {Readable} from 'node:stream';

/** What a server says on a side channel takes some hundred bytes; of more than this the rest is left out. */
const MAX_LENGTH = 64 * 1024;

/**
 * The text of a stream, read to its end, or to where it was given up. `onText` is called each time that some has
 * come.
 */
export async function boundedText(stream: Readable, onText?: () => void): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  stream.on('data', (piece: Buffer) => {
    if (length < MAX_LENGTH) pieces.push(piece);
    length += piece.length;
    onText?.();
  });
  // An async iterator would destroy the stream at the end, and with it what is still to be sent.
  await new Promise<void>((resolve) => {
    stream.once('end', resolve).once('close', resolve);
  });
  return Buffer.concat(pieces).toString();
}
