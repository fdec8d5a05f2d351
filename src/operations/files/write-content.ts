import type {FileHandle} from 'node:fs/promises';
import type {FileEntry} from '../../base/tar/file-entry.js';

/** Size of the parts in which files are read. */
const CHUNK_BYTES = 512 * 1024;
const ZEROS = Buffer.alloc(CHUNK_BYTES);
/** Parts of zeros that are shorter are written, because a hole takes whole blocks. */
const MIN_HOLE_BYTES = 4096;

/** Returns the content of an open file, at most `limit` bytes, in chunks that are valid until the next one is read. */
export async function* readChunks(
  file: FileHandle,
  limit = Infinity,
): AsyncGenerator<Buffer, void, undefined> {
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, limit));
  for (let left = limit; left > 0;) {
    const {bytesRead} = await file.read(buffer, 0, Math.min(buffer.length, left));
    if (bytesRead === 0) return;
    left -= bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Writes the content of an entry to an empty file. Long runs of zeros become holes, so that sparse files stay sparse. */
export async function writeContent(
  file: FileHandle,
  {content}: Pick<FileEntry, 'content'>,
  signal: AbortSignal,
): Promise<void> {
  let at = 0;
  let endsWithHole = false;
  for await (const chunk of content()) {
    signal.throwIfAborted();
    endsWithHole = isHole(chunk);
    if (!endsWithHole) await writeAll(file, chunk, at);
    at += chunk.length;
  }
  if (endsWithHole) await file.truncate(at);
}

function isHole(chunk: Buffer): boolean {
  return (
    chunk.length >= MIN_HOLE_BYTES &&
    chunk.length <= ZEROS.length &&
    chunk.equals(ZEROS.subarray(0, chunk.length))
  );
}

async function writeAll(file: FileHandle, chunk: Buffer, position: number): Promise<void> {
  for (let written = 0; written < chunk.length;) {
    const {bytesWritten} = await file.write(chunk, written, chunk.length - written, position + written);
    written += bytesWritten;
  }
}
