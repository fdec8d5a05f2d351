import {createHash} from 'node:crypto';
import {createReadStream} from 'node:fs';
import {stat} from 'node:fs/promises';
import {Readable} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import {createGunzip, createGzip, type Gzip} from 'node:zlib';
import {ConfigError, isSystemCallError, SystemError} from '../../base/errors.js';
import {writeChunksAtomic} from '../../base/fs/atomic-write.js';
import {isObject} from '../../base/is-object.js';
import {systemErrorMessage} from '../../base/system-error-message.js';
import type {FileEntry} from '../../base/tar/file-entry.js';
import {readTar} from '../../base/tar/read-tar.js';
import {encodeTarEnd, encodeTarMember} from '../../base/tar/write-tar.js';

/** Name of the format, in the manifest of each archive. */
const FORMAT = 'kcri node snapshot';
/** Version of the format; a change that an older kcri would misread raises it. */
const VERSION = 1;
const MANIFEST = 'manifest.json';
/** Largest archive that is read, and its largest content. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;
const MAX_CONTENT_BYTES = 256 * 1024 * 1024;
const MAX_PARTS = 16;

/** Description of an archive. */
export interface ArchiveManifest {
  readonly kcri: string;
  /** Name of the node. */
  readonly node: string;
  readonly takenAt: string;
  /** Parts that were left out because of the size limit, such as `2 healthy pods`. */
  readonly leftOut: readonly string[];
}

/** Snapshot of a node in a file: JSON values by the names of their parts. */
export interface NodeArchive {
  readonly manifest: ArchiveManifest;
  readonly parts: Readonly<Record<string, unknown>>;
}

/** Writes an archive that only its owner can read, atomically. Rejects with SystemError, and then leaves nothing behind. */
export async function writeArchive(path: string, archive: NodeArchive): Promise<void> {
  const {gzip, packed} = pack(archive);
  await writeChunksAtomic(path, gzip, 0o600);
  await packed;
}

/** Returns the chunks of an archive. */
export async function* encodeArchive(archive: NodeArchive): AsyncGenerator<Buffer, void, undefined> {
  const {gzip, packed} = pack(archive);
  yield* gzip as AsyncIterable<Buffer>;
  await packed;
}

function pack({manifest, parts}: NodeArchive): {readonly gzip: Gzip; readonly packed: Promise<void>} {
  const texts = Object.entries(parts).map(([name, value]) => [`${name}.json`, toText(value)] as const);
  const digests = Object.fromEntries(texts.map(([name, text]) => [name, digestOf(text)]));
  const first = [MANIFEST, toText({format: FORMAT, version: VERSION, ...manifest, digests})] as const;
  const members = async function* (): AsyncGenerator<Buffer> {
    for (const [name, text] of [first, ...texts])
      yield* encodeTarMember(fileEntry(name, text, manifest.takenAt));
    yield encodeTarEnd();
  };
  const gzip = createGzip();
  const packed = pipeline(Readable.from(members()), gzip);
  // When the file cannot be written, the writer destroys the stream, and has the reason.
  packed.catch(() => undefined);
  return {gzip, packed};
}

const toText = (value: unknown): string => `${JSON.stringify(value, undefined, 1)}\n`;
const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

function fileEntry(path: string, text: string, takenAt: string): FileEntry {
  const content = Buffer.from(text);
  return {
    ...{path, kind: 'file', mode: 0o600, uid: 0, gid: 0, target: '', device: {major: 0, minor: 0}},
    mtimeMs: Date.parse(takenAt),
    size: content.length,
    content: async function* () {
      yield content;
    },
  };
}

/**
 * Reads an archive. It is not trusted: nothing of it is extracted, and its size is limited. Rejects with ConfigError, which
 * names the file.
 */
export async function readArchive(path: string): Promise<NodeArchive> {
  try {
    const {size} = await stat(path);
    if (size > MAX_FILE_BYTES) throw notAnArchive(`it has ${size} bytes, more than ${MAX_FILE_BYTES}`);
    return parseArchive(await readMembers(path));
  } catch (error) {
    const {message, hint} = explain(error);
    throw new ConfigError(`${path}: ${message}`, {hint, cause: error});
  }
}

const SAVE_HINT = 'save a snapshot with "kcri doctor --save FILE" on the node';

function explain(error: unknown): {readonly message: string; readonly hint: string} {
  if (error instanceof ConfigError) return {message: error.message, hint: error.hint ?? SAVE_HINT};
  const isZlib = error instanceof Error && 'code' in error && String(error.code).startsWith('Z_');
  if (isZlib || error instanceof SystemError)
    return {message: `it is not a snapshot of a node: ${error.message}`, hint: SAVE_HINT};
  if (isSystemCallError(error)) return {message: systemErrorMessage(error), hint: SAVE_HINT};
  throw error;
}

const notAnArchive = (reason: string, hint = SAVE_HINT): ConfigError =>
  new ConfigError(`it is not a snapshot of a node: ${reason}`, {hint});

async function readMembers(path: string): Promise<ReadonlyMap<string, string>> {
  const file = createReadStream(path);
  const gunzip = file.pipe(createGunzip());
  file.once('error', (error) => gunzip.destroy(error));
  const members = new Map<string, string>();
  try {
    for await (const entry of readTar(limited(gunzip))) {
      if (members.size === MAX_PARTS) throw notAnArchive(`it has more than ${MAX_PARTS} files`);
      if (entry.kind !== 'file' || !/^[a-z-]+\.json$/.test(entry.path))
        throw notAnArchive(`it has a ${entry.kind} ${JSON.stringify(entry.path)}`);
      if (members.has(entry.path)) throw notAnArchive(`it has ${entry.path} twice`);
      const chunks: Buffer[] = [];
      for await (const chunk of entry.content()) chunks.push(Buffer.from(chunk));
      members.set(entry.path, Buffer.concat(chunks).toString());
    }
  } finally {
    gunzip.destroy();
    file.destroy();
  }
  return members;
}

/** Passes expanded content on up to the limit, which headers count for too: a small file can expand to headers only. */
async function* limited(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > MAX_CONTENT_BYTES) throw notAnArchive(`its content has more than ${MAX_CONTENT_BYTES} bytes`);
    yield chunk;
  }
}

function parseArchive(members: ReadonlyMap<string, string>): NodeArchive {
  const manifest = parseObject(MANIFEST, members.get(MANIFEST));
  const {format, version, digests, kcri, node, takenAt, leftOut} = manifest;
  if (format !== FORMAT) throw notAnArchive(`${MANIFEST} does not say so`);
  if (version !== VERSION)
    throw new ConfigError(
      `the snapshot has version ${JSON.stringify(version)} of the format, and this kcri reads ${VERSION}`,
      {
        hint: `read it with the kcri that wrote it (${String(kcri)})`,
      },
    );
  const parts = [...members].filter(([name]) => name !== MANIFEST);
  for (const [name, text] of parts)
    if (!isObject(digests) || digests[name] !== digestOf(text)) throw notAnArchive(`${name} is damaged`);
  return {
    manifest: {
      kcri: String(kcri),
      node: String(node),
      takenAt: String(takenAt),
      leftOut: Array.isArray(leftOut) ? leftOut.map(String) : [],
    },
    parts: Object.fromEntries(
      parts.map(([name, text]) => [name.replace(/\.json$/, ''), parseObject(name, text)]),
    ),
  };
}

function parseObject(name: string, text: string | undefined): Readonly<Record<string, unknown>> {
  if (text === undefined) throw notAnArchive(`it has no ${name}`);
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // reported below, with the name
  }
  throw notAnArchive(`${name} is not a JSON object`);
}
