import {abortable} from '../../../base/async/abortable.js';
import {CriError, type Init} from '../../../cri/index.js';
import type {ContainerdServices} from '../../../containerd/connect-containerd.js';
import type {WriteContentRequest} from '../../../containerd/gen/types.js';

/** A blob to write. */
export interface NewBlob {
  /** Name of the ingest, unique to this blob. */
  readonly ref: string;
  /** Expected digest; undefined if unknown. */
  readonly digest?: string | undefined;
  readonly size: number;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** Size of a request in bytes: containerd accepts 16 MiB. */
const REQUEST_BYTES = 1024 * 1024;

/**
 * Writes a blob to the content store, as fast as containerd takes it, and returns its digest. A blob that exists is not
 * written again: containerd ends the call at once, and its chunks are read no further when this resolves. Discards what
 * was written if it fails. Rejects with CriError, for example for data with another digest, and with the error of the
 * chunks.
 */
export async function writeBlob(
  content: ContainerdServices['content'],
  blob: NewBlob,
  signal: AbortSignal,
): Promise<string> {
  const {ref, digest = ''} = blob;
  const sent = requests(blob);
  let written = digest;
  try {
    for await (const response of content.write(sent, {signal}))
      if (response.action === 'COMMIT') written = response.digest;
    return written;
  } catch (error) {
    if (digest !== '' && error instanceof CriError && error.grpcCode === 'ALREADY_EXISTS') {
      // The end of the call does not end a request that is being read.
      await abortable(sent.return(undefined), signal);
      return digest;
    }
    // The ingest of a call that was refused does not exist.
    await content.abort({ref}).catch(() => undefined);
    const existing = existingDigest(error);
    if (digest === '' && existing !== undefined) return existing;
    throw error;
  }
}

/** Returns the digest of data that is in the store already, which containerd finds out at the end. */
function existingDigest(error: unknown): string | undefined {
  if (!(error instanceof CriError && error.grpcCode === 'ALREADY_EXISTS')) return undefined;
  return /sha256:[0-9a-f]{64}/.exec(error.details)?.[0];
}

async function* requests({
  ref,
  digest = '',
  size,
  chunks,
}: NewBlob): AsyncGenerator<Init<WriteContentRequest>, void, undefined> {
  const common = {ref, expected: digest, total: BigInt(size)};
  let offset = 0n;
  let waiting: Buffer[] = [];
  let length = 0;
  const flush = (): Init<WriteContentRequest> => {
    const data = Buffer.concat(waiting);
    const request = {...common, action: 'WRITE', offset, data} as const;
    offset += BigInt(data.length);
    [waiting, length] = [[], 0];
    return request;
  };
  for await (const chunk of chunks)
    for (let at = 0; at < chunk.length; at += REQUEST_BYTES) {
      // Chunks may be reused by their producer.
      const part = Buffer.from(chunk.subarray(at, at + REQUEST_BYTES));
      waiting.push(part);
      length += part.length;
      if (length >= REQUEST_BYTES) yield flush();
    }
  if (length > 0) yield flush();
  yield {...common, action: 'COMMIT', offset};
}
