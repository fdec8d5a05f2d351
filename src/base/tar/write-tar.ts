import {textToBytes} from '../byte-text.js';
import type {FileEntry, FileKind} from './file-entry.js';
import {encodePax} from './pax-header.js';
import {encodeTarHeader, MAX_HEADER_NAME, maxOctal, TAR_BLOCK, type TarHeader} from './tar-header.js';

/** Type flags; an archive cannot contain sockets. */
const TYPES: Readonly<Partial<Record<FileKind, string>>> = {
  file: '0',
  'hard link': '1',
  'symbolic link': '2',
  'character device': '3',
  'block device': '4',
  directory: '5',
  FIFO: '6',
};

/** Reports whether an archive can contain files of a kind. */
export function isArchivable(kind: FileKind): boolean {
  return TYPES[kind] !== undefined;
}

/**
 * Returns a member of an archive in chunks: its header, preceded by a pax extended header if the fields do not fit, and
 * its content with exactly the announced size; a file that became shorter is filled with zeros. Chunks are valid until
 * the next one is read.
 */
export async function* encodeTarMember(entry: FileEntry): AsyncGenerator<Buffer, void, undefined> {
  yield headersOf(entry);
  if (entry.kind !== 'file') return;
  let left = entry.size;
  for await (const chunk of entry.content()) {
    if (chunk.length >= left) {
      yield chunk.subarray(0, left);
      left = 0;
      break;
    }
    left -= chunk.length;
    yield chunk;
  }
  for (; left > 0; left -= Math.min(left, ZEROS.length))
    yield ZEROS.subarray(0, Math.min(left, ZEROS.length));
  yield padding(entry.size);
}

const ZEROS = Buffer.alloc(64 * 1024);

/** Returns the end of an archive. */
export function encodeTarEnd(): Buffer {
  return Buffer.alloc(2 * TAR_BLOCK);
}

function padding(size: number): Buffer {
  return Buffer.alloc((TAR_BLOCK - (size % TAR_BLOCK)) % TAR_BLOCK);
}

function headersOf(entry: FileEntry): Buffer {
  const header = headerOf(entry);
  const long = new Map<string, Buffer>();
  if (header.name.length > MAX_HEADER_NAME) long.set('path', header.name);
  if (header.linkName.length > MAX_HEADER_NAME) long.set('linkpath', header.linkName);
  for (const key of ['size', 'uid', 'gid'] as const)
    if (header[key] > maxOctal(key)) long.set(key, Buffer.from(String(header[key])));
  if (header.mtime < 0) long.set('mtime', Buffer.from(String(header.mtime)));
  const own = encodeTarHeader(header);
  if (long.size === 0) return own;
  const records = encodePax(long);
  const empty = {linkName: Buffer.alloc(0), mode: 0o644, uid: 0, gid: 0, mtime: 0, major: 0, minor: 0};
  const name = Buffer.from('PaxHeaders/0');
  const extended = encodeTarHeader({...empty, type: 'x', name, size: records.length});
  return Buffer.concat([extended, records, padding(records.length), own]);
}

function headerOf({path, kind, target, mtimeMs, size, device, mode, uid, gid}: FileEntry): TarHeader {
  return {
    type: TYPES[kind] ?? '0',
    name: textToBytes(kind === 'directory' ? `${path}/` : path),
    linkName: textToBytes(target),
    mode,
    uid,
    gid,
    size: kind === 'file' ? size : 0,
    mtime: Math.floor(mtimeMs / 1000),
    ...device,
  };
}
