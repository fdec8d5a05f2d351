import {createHash} from 'node:crypto';
import {posix} from 'node:path';
import {Readable} from 'node:stream';
import {pipeline} from 'node:stream';
import {createGunzip} from 'node:zlib';
import {messageOf, SystemError} from '../../../base/errors.js';
import {compressionOf, MAGIC_BYTES} from '../../../base/tar/compression.js';
import type {FileEntry} from '../../../base/tar/file-entry.js';
import {readTar} from '../../../base/tar/read-tar.js';
import type {ContainerdServices} from '../../../containerd/connect-containerd.js';
import {CriError} from '../../../cri/index.js';
import {MAX_JSON_BYTES} from './oci-content.js';
import {writeBlob} from './write-blob.js';

/** A file of an archive that is in the content store. */
export interface StagedFile {
  readonly digest: string;
  readonly size: number;
  readonly compression: 'none' | 'gzip' | 'zstd';
}

/** Contents of an archive: its two lists of images, and all files that may belong to images. */
export interface StagedArchive {
  /** index.json of an OCI image layout. */
  readonly index: Buffer | undefined;
  /** manifest.json of `docker save`. */
  readonly dockerManifest: Buffer | undefined;
  /** Returns the file at a path, through links. */
  file(path: string): StagedFile | undefined;
}

/** Options of stageArchive. */
export interface StageOptions {
  /** Returns a unique name for an ingest. */
  readonly nextRef: () => string;
  /** Called with the number of bytes that were read since the last call. */
  readonly onProgress: (bytes: number) => void;
  readonly signal: AbortSignal;
}

/** Maximum number of members of an archive. */
const MAX_MEMBERS = 20_000;
const MAX_LINKS = 16;

const BLOB = /^blobs\/sha256\/([0-9a-f]{64})$/;
/** Layers and configs of `docker save`. */
const DOCKER_FILE = /\.(tar|json)$|^[0-9a-f]{64}$/;
/** Members that describe the archive or its history. */
const IGNORED = /(^|\/)(oci-layout|repositories|VERSION|json)$/;

/**
 * Writes the blobs of an archive (tar, also gzipped) to the content store while it is read, without holding them in
 * memory. Paths are only keys: nothing is extracted. Rejects with SystemError for a damaged archive and for a blob with
 * another digest than its name.
 */
export async function stageArchive(
  content: ContainerdServices['content'],
  input: AsyncIterable<Uint8Array>,
  options: StageOptions,
): Promise<StagedArchive> {
  const files = new Map<string, StagedFile>();
  const links = new Map<string, string>();
  const documents = new Map<string, Buffer>();
  let members = 0;
  for await (const entry of readTar(decompressed(counted(input, options.onProgress)))) {
    options.signal.throwIfAborted();
    if (++members > MAX_MEMBERS) throw new SystemError(`the archive has more than ${MAX_MEMBERS} members`);
    const {path, kind, target} = entry;
    if (kind === 'symbolic link') links.set(path, posix.join(posix.dirname(path), target));
    else if (kind === 'hard link') links.set(path, target);
    else if (kind !== 'file' || IGNORED.test(path)) continue;
    else if (path === 'index.json' || path === 'manifest.json')
      documents.set(path, await readDocument(entry));
    else if (BLOB.test(path) || DOCKER_FILE.test(path))
      files.set(path, await stageFile(content, entry, options));
  }
  return {
    index: documents.get('index.json'),
    dockerManifest: documents.get('manifest.json'),
    file: (path) => {
      let at = posix.normalize(path);
      for (let hops = 0; links.has(at) && hops < MAX_LINKS; hops++) at = links.get(at) ?? at;
      return files.get(at);
    },
  };
}

async function readDocument(entry: FileEntry): Promise<Buffer> {
  const {path, size} = entry;
  if (size > MAX_JSON_BYTES) throw new SystemError(`"${path}" of the archive is too large: ${size} bytes`);
  const chunks: Buffer[] = [];
  for await (const chunk of entry.content()) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

async function stageFile(
  content: ContainerdServices['content'],
  entry: FileEntry,
  {nextRef, signal}: StageOptions,
): Promise<StagedFile> {
  const {path, size} = entry;
  const hex = BLOB.exec(path)?.[1];
  let start = Buffer.alloc(0);
  const hash = createHash('sha256');
  async function* chunks(): AsyncGenerator<Buffer, void, undefined> {
    for await (const chunk of entry.content()) {
      if (start.length < MAGIC_BYTES) start = Buffer.concat([start, chunk.subarray(0, MAGIC_BYTES)]);
      if (hex === undefined) hash.update(chunk);
      yield chunk;
    }
  }
  const expected = hex === undefined ? undefined : `sha256:${hex}`;
  try {
    const digest = await writeBlob(
      content,
      {ref: nextRef(), digest: expected, size, chunks: chunks()},
      signal,
    );
    return {digest, size, compression: layerCompression(start)};
  } catch (error) {
    if (error instanceof CriError && error.grpcCode === 'ALREADY_EXISTS')
      return {digest: `sha256:${hash.digest('hex')}`, size, compression: layerCompression(start)};
    if (error instanceof CriError && error.grpcCode === 'FAILED_PRECONDITION')
      throw new SystemError(`the blob "${path}" of the archive is damaged: its digest is another`, {
        cause: error,
        hint: 'copy or create the archive again',
      });
    throw error;
  }
}

function layerCompression(start: Uint8Array): StagedFile['compression'] {
  const compression = compressionOf(start);
  return compression === 'gzip' || compression === 'zstd' ? compression : 'none';
}

async function* counted(
  input: AsyncIterable<Uint8Array>,
  onProgress: (bytes: number) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of input) {
    onProgress(chunk.length);
    yield chunk;
  }
}

/** Returns the input, decompressed if it is gzipped. Rejects with SystemError for damaged data. */
async function* decompressed(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const {start, all} = await readStart(input);
  if (start.length === 0) throw new SystemError('the archive is empty');
  const compression = compressionOf(start);
  if (compression === undefined) yield* all();
  else if (compression === 'gzip') yield* gunzipped(all());
  else
    throw new SystemError(`the archive is compressed with ${compression}`, {
      hint: `decompress it first: ${compression} -dc ARCHIVE | kcri image load`,
    });
}

/** Reads the first bytes of an input, and returns them and the whole input. */
async function readStart(input: AsyncIterable<Uint8Array>) {
  const iterator = input[Symbol.asyncIterator]();
  const chunks: Uint8Array[] = [];
  let length = 0;
  while (length < MAGIC_BYTES) {
    const next = await iterator.next();
    if (next.done === true) break;
    chunks.push(next.value);
    length += next.value.length;
  }
  async function* all(): AsyncGenerator<Uint8Array, void, undefined> {
    yield* chunks;
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value;
  }
  return {start: Buffer.concat(chunks), all};
}

async function* gunzipped(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  let failure: unknown;
  async function* watched(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      yield* input;
    } catch (error) {
      failure = error;
      throw error;
    }
  }
  const gunzip = createGunzip();
  // The error of the pipeline is that of reading from it.
  pipeline(Readable.from(watched()), gunzip, () => undefined);
  try {
    yield* gunzip as AsyncIterable<Buffer>;
  } catch (error) {
    if (failure !== undefined) throw failure as Error;
    throw new SystemError(`the archive is damaged or incomplete: ${messageOf(error)}`, {cause: error});
  }
}
