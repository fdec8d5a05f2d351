import type {Readable} from 'node:stream';

/**
 * Maximum length of text on a side channel, in bytes; the rest is dropped. Such text usually has some hundred bytes.
 */
const MAX_BYTES = 64 * 1024;

/** Reads text from a stream until its end or destruction. `onText` is called for each chunk. */
export async function readBoundedText(stream: Readable, onText?: () => void): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  stream.on('data', (chunk: Buffer) => {
    if (length < MAX_BYTES) chunks.push(chunk);
    length += chunk.length;
    onText?.();
  });
  // An async iterator would destroy the stream at its end, including unsent data.
  await new Promise<void>((resolve) => {
    stream.once('end', resolve).once('close', resolve);
  });
  return Buffer.concat(chunks).toString();
}
