import {encodeTarHeader, TAR_BLOCK} from '../../base/tar/tar-header.js';

/** One member of a tar archive. Owners are root and times are zero, so that equal content gives equal bytes. */
export type TarEntry =
  | {readonly type: 'file'; readonly path: string; readonly mode?: number; readonly data: Uint8Array}
  | {readonly type: 'directory'; readonly path: string; readonly mode?: number}
  | {readonly type: 'symlink'; readonly path: string; readonly target: string};

const TYPE_FLAG = {file: '0', symlink: '2', directory: '5'} as const satisfies Record<
  TarEntry['type'],
  string
>;
const DEFAULT_MODE = {file: 0o644, symlink: 0o777, directory: 0o755} as const satisfies Record<
  TarEntry['type'],
  number
>;

/**
 * Creates a POSIX ustar archive of the entries, in their order. Paths are relative and have at most 255 bytes. Throws
 * RangeError for a path that ustar cannot split into prefix and name.
 */
export function createTarArchive(entries: readonly TarEntry[]): Uint8Array {
  const end = new Uint8Array(2 * TAR_BLOCK);
  return Buffer.concat([...entries.flatMap((entry) => [header(entry), padded(dataOf(entry))]), end]);
}

function header(entry: TarEntry): Uint8Array {
  const {prefix, name} = splitPath(entry.type === 'directory' ? `${entry.path}/` : entry.path);
  const mode = entry.type === 'symlink' ? DEFAULT_MODE.symlink : (entry.mode ?? DEFAULT_MODE[entry.type]);
  const root = {uid: 0, gid: 0, mtime: 0, major: 0, minor: 0};
  const [type, size] = [TYPE_FLAG[entry.type], dataOf(entry).length];
  const linkName = Buffer.from(entry.type === 'symlink' ? entry.target : '');
  return encodeTarHeader({...root, type, name: Buffer.from(name), linkName, mode, size}, prefix);
}

function splitPath(path: string): {prefix: string; name: string} {
  if (Buffer.byteLength(path) <= 100) return {prefix: '', name: path};
  for (let slash = path.indexOf('/'); slash > 0; slash = path.indexOf('/', slash + 1)) {
    const prefix = path.slice(0, slash);
    const name = path.slice(slash + 1);
    if (name !== '' && Buffer.byteLength(name) <= 100 && Buffer.byteLength(prefix) <= 155)
      return {prefix, name};
  }
  throw new RangeError(`the path "${path}" is too long for a tar archive`);
}

function dataOf(entry: TarEntry): Uint8Array {
  return entry.type === 'file' ? entry.data : new Uint8Array();
}

function padded(data: Uint8Array): Uint8Array {
  const rest = data.length % TAR_BLOCK;
  return rest === 0 ? data : Buffer.concat([data, new Uint8Array(TAR_BLOCK - rest)]);
}
