/** Kinds of files. A `hard link` is a further name of a file that precedes it. */
export type FileKind =
  | 'file'
  | 'directory'
  | 'symbolic link'
  | 'hard link'
  | 'FIFO'
  | 'character device'
  | 'block device'
  | 'socket';

/** A file of a tree or of an archive, with its content. */
export interface FileEntry {
  /**
   * Path below the top of the tree, which itself has an empty one; components are separated by single slashes. A text of
   * bytesToText, as is `target`.
   */
  readonly path: string;
  readonly kind: FileKind;
  /** Permission bits, with setuid, setgid and sticky bit. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly mtimeMs: number;
  /** Size of the content in bytes; 0 unless it is a file. */
  readonly size: number;
  /** Text of a symbolic link; path of the file of a hard link, below the top of the tree. */
  readonly target: string;
  /** Number of a device. */
  readonly device: {readonly major: number; readonly minor: number};
  /**
   * Returns the content of a file in chunks, which are valid until the next one is read. Must be read before the next
   * entry. May be shorter or longer than `size`, if the file changes meanwhile.
   */
  content(): AsyncIterable<Buffer>;
}
