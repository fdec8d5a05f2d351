import {bytesToText} from '../byte-text.js';
import {ByteReader} from './byte-reader.js';
import type {FileEntry, FileKind} from './file-entry.js';
import {decodePax, type PaxRecords} from './pax-header.js';
import {decodeTarHeader, TAR_BLOCK, TarError, type TarHeader} from './tar-header.js';

const KINDS: Readonly<Record<string, FileKind>> = {
  '0': 'file',
  '\0': 'file',
  '1': 'hard link',
  '2': 'symbolic link',
  '3': 'character device',
  '4': 'block device',
  '5': 'directory',
  '6': 'FIFO',
  '7': 'file',
};

/** Largest extended header: attributes can have 64 KiB each, everything else is shorter than a path. */
const MAX_EXTENDED_BYTES = 1024 * 1024;

/** Longest path of an archive in bytes, as of the kernel. */
const MAX_PATH_BYTES = 4096;

/**
 * Returns the files of a tar archive (ustar, pax, GNU), with paths that cannot leave the directory into which it is
 * extracted: leading slashes are dropped, and `..` is an error. Link texts are not changed. Needs little memory,
 * whatever the archive contains. Rejects with TarError for a damaged archive.
 */
export async function* readTar(input: AsyncIterable<Uint8Array>): AsyncGenerator<FileEntry, void, undefined> {
  const reader = new ByteReader(input);
  let pax: PaxRecords = new Map();
  let global: PaxRecords = new Map();
  for (let header = await nextHeader(reader); header !== undefined; header = await nextHeader(reader)) {
    const {type} = header;
    if (EXTENDED.has(type)) {
      const records = await readExtended(reader, header);
      if (type === 'g') global = new Map([...global, ...records]);
      else pax = new Map([...pax, ...records]);
      continue;
    }
    const entry = entryOf(withRecords(header, new Map([...global, ...pax])), reader);
    pax = new Map();
    const rest = reader.startContent(entry.size);
    yield entry;
    await reader.skip(rest() + ((TAR_BLOCK - (entry.size % TAR_BLOCK)) % TAR_BLOCK));
  }
  // A program that writes the archive would fail if its last blocks were not read.
  await reader.drain();
}

/** Types of members that describe the next one: pax headers, and the long names of GNU tar. */
const EXTENDED: ReadonlySet<string> = new Set(['x', 'g', 'L', 'K']);

async function nextHeader(reader: ByteReader): Promise<TarHeader | undefined> {
  const block = await reader.read(TAR_BLOCK);
  return block === undefined ? undefined : decodeTarHeader(block);
}

async function readExtended(reader: ByteReader, {type, size}: TarHeader): Promise<PaxRecords> {
  if (size < 0 || size > MAX_EXTENDED_BYTES)
    throw new TarError(
      `the archive has an extended header of ${size} bytes; at most ${MAX_EXTENDED_BYTES} are allowed`,
    );
  const content = await reader.readAll(size);
  await reader.skip((TAR_BLOCK - (size % TAR_BLOCK)) % TAR_BLOCK);
  if (type === 'x' || type === 'g') return usedRecords(decodePax(content));
  const end = content.indexOf(0);
  return new Map([[type === 'L' ? 'path' : 'linkpath', end < 0 ? content : content.subarray(0, end)]]);
}

const USED_RECORDS: ReadonlySet<string> = new Set(['path', 'linkpath', 'uid', 'gid', 'size', 'mtime']);

/** Returns the records that are read: an archive can have any number of others. Throws TarError for sparse files. */
function usedRecords(records: PaxRecords): PaxRecords {
  if ([...records.keys()].some((key) => key.startsWith('GNU.sparse.'))) throw sparseError();
  return new Map([...records].filter(([key]) => USED_RECORDS.has(key)));
}

function sparseError(): TarError {
  return new TarError('the archive has sparse files, which are not supported', {
    hint: 'create the archive without --sparse',
  });
}

function withRecords(header: TarHeader, records: PaxRecords): TarHeader {
  if (header.type === 'S') throw sparseError();
  const numbers = (['uid', 'gid', 'size', 'mtime'] as const).flatMap((key) => {
    const text = records.get(key);
    return text === undefined ? [] : [[key, Number(text.toString())] as const];
  });
  if (numbers.some(([, value]) => !Number.isFinite(value)))
    throw new TarError('the archive is damaged: invalid number in an extended header');
  return {
    ...header,
    ...Object.fromEntries(numbers),
    name: records.get('path') ?? header.name,
    linkName: records.get('linkpath') ?? header.linkName,
  };
}

function entryOf(header: TarHeader, reader: ByteReader): FileEntry {
  const name = bytesToText(header.name);
  // Old programs mark directories only by a slash.
  const kind = name.endsWith('/') && header.type === '\0' ? 'directory' : (KINDS[header.type] ?? 'file');
  const target = bytesToText(header.linkName);
  const size = kind === 'file' ? header.size : 0;
  if (!Number.isSafeInteger(size) || size < 0) throw new TarError('the archive is damaged: invalid size');
  return {
    path: safePath(name),
    kind,
    mode: header.mode & 0o7777,
    uid: header.uid,
    gid: header.gid,
    mtimeMs: header.mtime * 1000,
    size,
    target: kind === 'hard link' ? safePath(target) : target,
    device: {major: header.major, minor: header.minor},
    content: () => reader.content(),
  };
}

/** Returns the path relative to the top, in its canonical form. Throws TarError for `..`. */
function safePath(path: string): string {
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  if (names.includes('..'))
    throw new TarError(`the archive has a path that leaves the destination: ${JSON.stringify(path)}`);
  if (path.includes('\0') || path.length > MAX_PATH_BYTES)
    throw new TarError('the archive is damaged: it has an invalid path');
  return names.join('/');
}
