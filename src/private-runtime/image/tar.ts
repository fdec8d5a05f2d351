/** One member of a tar archive. Owners are root and times are zero, so that equal content gives equal bytes. */
export type TarEntry =
  | {readonly type: 'file'; readonly path: string; readonly mode?: number; readonly data: Uint8Array}
  | {readonly type: 'directory'; readonly path: string; readonly mode?: number}
  | {readonly type: 'symlink'; readonly path: string; readonly target: string};

const BLOCK = 512;
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
  const end = new Uint8Array(2 * BLOCK);
  return Buffer.concat([...entries.flatMap((entry) => [header(entry), padded(dataOf(entry))]), end]);
}

function header(entry: TarEntry): Uint8Array {
  const {prefix, name} = splitPath(entry.type === 'directory' ? `${entry.path}/` : entry.path);
  const mode = entry.type === 'symlink' ? DEFAULT_MODE.symlink : (entry.mode ?? DEFAULT_MODE[entry.type]);
  const block = Buffer.alloc(BLOCK);
  const put = (offset: number, text: string): number => block.write(text, offset, 'utf8');
  put(0, name);
  put(100, octal(mode, 7));
  put(108, octal(0, 7));
  put(116, octal(0, 7));
  put(124, octal(dataOf(entry).length, 11));
  put(136, octal(0, 11));
  put(156, TYPE_FLAG[entry.type]);
  put(157, entry.type === 'symlink' ? entry.target : '');
  put(257, 'ustar\u000000');
  put(345, prefix);
  put(148, `${octal(checksum(block), 6)}\0 `);
  return block;
}

/** Returns the sum of the header's bytes, with the checksum field itself counted as eight spaces. */
function checksum(block: Uint8Array): number {
  const withoutField = block.reduce(
    (sum, byte, index) => (index >= 148 && index < 156 ? sum : sum + byte),
    0,
  );
  return withoutField + 8 * 0x20;
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
  const rest = data.length % BLOCK;
  return rest === 0 ? data : Buffer.concat([data, new Uint8Array(BLOCK - rest)]);
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}
