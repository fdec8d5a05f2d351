import {constants, type Stats} from 'node:fs';
import {open, opendir, readlink, statfs, type FileHandle} from 'node:fs/promises';
import {bytesToText, textToBytes} from '../../base/byte-text.js';
import {hasErrno} from '../../base/errors.js';
import {fdPath, O_PATH} from '../../base/fs/file-handles.js';
import type {FileEntry, FileKind} from '../../base/tar/file-entry.js';
import {CopyError, copyError, type FileSystemView} from './file-system-view.js';
import {readChunks} from './write-content.js';

/** Options of readTree. */
export interface ReadTreeOptions {
  readonly view: FileSystemView;
  /** Path of the top, for messages. */
  readonly path: string;
  /** Receives files that are not read, and why. */
  readonly onSkip: (path: string, reason: string) => void;
  /** Identity of a directory that must not be entered, because the copy is written into it. */
  readonly destination?: FileIdentity | undefined;
  readonly signal: AbortSignal;
}

/** Identity of a file on this machine. */
export interface FileIdentity {
  readonly dev: number;
  readonly ino: number;
}

/** Limit for files whose size is 0, as of the files of /proc, which end when they have been read. */
const MAX_UNKNOWN_SIZE = 4 * 1024 * 1024;

/** Filesystems that the kernel generates, by their magic number (statfs(2)). */
const GENERATED_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x9f_a0, 'proc'],
  [0x62_65_65_72, 'sysfs'],
  [0x27_e0_eb, 'cgroup'],
  [0x63_67_72_70, 'cgroup2'],
  [0x1c_d1, 'devpts'],
  [0x19_80_02_02, 'mqueue'],
  [0x64_62_67_20, 'debugfs'],
  [0x74_72_61_63, 'tracefs'],
  [0x73_63_66_73, 'securityfs'],
  [0xca_fe_4a_11, 'bpf'],
]);

/** Returns the type of a filesystem that the kernel generates, such as `proc`; undefined for any other. */
export async function generatedFileSystemOf(file: FileHandle): Promise<string | undefined> {
  const {type} = await statfs(fdPath(file));
  return GENERATED_FILE_SYSTEMS.get(type >>> 0);
}

/**
 * Returns a file and, if it is a directory, everything below it, parents first. `top` is an O_PATH handle, which the
 * caller closes. No link is followed, and only directories and files are opened: no FIFO blocks and no device wakes,
 * whatever changes meanwhile. Rejects with SystemError.
 */
export async function* readTree(
  {place, link}: OpenFile,
  options: ReadTreeOptions,
): AsyncGenerator<FileEntry, void, undefined> {
  yield* new TreeReader(options).entries(place, '', link);
}

/** A file that was found, as an O_PATH handle, and its text if it is a symbolic link. */
export interface OpenFile {
  readonly place: FileHandle;
  readonly link: string;
}

/**
 * Opens a file of a directory without following it; undefined if it does not exist or changes at this moment. Rejects
 * with the system error.
 */
export async function openFile(directory: FileHandle, name: string): Promise<OpenFile | undefined> {
  const at = textToBytes(`${fdPath(directory)}/${name}`);
  let place: FileHandle | undefined;
  try {
    place = await open(at, O_PATH | constants.O_NOFOLLOW);
    const isLink = (await place.stat()).isSymbolicLink();
    return {place, link: isLink ? bytesToText(await readlink(at, {encoding: 'buffer'})) : ''};
  } catch (error) {
    await place?.close();
    // EINVAL: another file has replaced the link.
    if (hasErrno(error, 'ENOENT', 'EINVAL')) return undefined;
    throw error;
  }
}

class TreeReader {
  readonly #options: ReadTreeOptions;
  /** First path of each file with several names, while further names are expected. */
  readonly #links = new Map<string, {path: string; left: number}>();

  constructor(options: ReadTreeOptions) {
    this.#options = options;
  }

  async *entries(place: FileHandle, path: string, link: string): AsyncGenerator<FileEntry, void, undefined> {
    this.#options.signal.throwIfAborted();
    const stats = await place.stat();
    const kind = kindOf(stats);
    const first = this.#firstName(stats, kind, path);
    yield {
      path,
      kind: first === undefined ? kind : 'hard link',
      mode: stats.mode & 0o7777,
      uid: this.#options.view.owners.uid.toInner(stats.uid),
      gid: this.#options.view.owners.gid.toInner(stats.gid),
      mtimeMs: stats.mtimeMs,
      size: kind === 'file' ? stats.size : 0,
      target: first ?? link,
      device: deviceOf(stats.rdev),
      content: () => this.#content(place, path, stats.size),
    };
    if (kind === 'directory') yield* this.#children(place, path, stats);
  }

  async *#children(
    directory: FileHandle,
    path: string,
    {dev, ino}: Stats,
  ): AsyncGenerator<FileEntry, void, undefined> {
    const {destination} = this.#options;
    if (destination?.dev === dev && destination.ino === ino)
      throw new CopyError(`cannot copy the directory ${this.#quote('')} into itself`);
    for await (const entry of await this.#openDirectory(directory, path)) {
      const name = bytesToText(Buffer.from(entry.name, 'latin1'));
      const childPath = path === '' ? name : `${path}/${name}`;
      const child = await this.#openFile(directory, name, childPath);
      if (child === undefined) continue;
      try {
        yield* this.#child(child, childPath, dev);
      } finally {
        await child.place.close();
      }
    }
  }

  async *#child(
    {place, link}: OpenFile,
    path: string,
    parentDevice: number,
  ): AsyncGenerator<FileEntry, void, undefined> {
    const stats = await place.stat();
    const generated =
      stats.isDirectory() && stats.dev !== parentDevice ? await generatedFileSystemOf(place) : undefined;
    if (generated === undefined) yield* this.entries(place, path, link);
    else this.#options.onSkip(this.#show(path), `it is a ${generated} filesystem`);
  }

  async #openDirectory(directory: FileHandle, path: string) {
    try {
      // One character per byte: Bun does not report entry types for names in buffers.
      return await opendir(fdPath(directory), {encoding: 'latin1'});
    } catch (error) {
      throw this.#error('reading', path, error);
    }
  }

  async #openFile(directory: FileHandle, name: string, path: string): Promise<OpenFile | undefined> {
    try {
      return await openFile(directory, name);
    } catch (error) {
      throw this.#error('reading', path, error);
    }
  }

  /** Returns the path of an earlier name of a file with several names. */
  #firstName(stats: Stats, kind: FileKind, path: string): string | undefined {
    if (kind !== 'file' || stats.nlink < 2) return undefined;
    const key = `${stats.dev}:${stats.ino}`;
    const known = this.#links.get(key);
    if (known === undefined) {
      this.#links.set(key, {path, left: stats.nlink - 1});
      return undefined;
    }
    known.left -= 1;
    if (known.left === 0) this.#links.delete(key);
    return known.path;
  }

  async *#content(place: FileHandle, path: string, size: number): AsyncGenerator<Buffer, void, undefined> {
    const {signal} = this.#options;
    try {
      // The object is known to be a file, and the kernel opens exactly that object.
      await using file = await open(fdPath(place), constants.O_RDONLY | constants.O_NONBLOCK);
      const limit = size === 0 ? MAX_UNKNOWN_SIZE : size;
      for await (const chunk of readChunks(file, limit)) {
        signal.throwIfAborted();
        yield chunk;
      }
    } catch (error) {
      throw this.#error('reading', path, error);
    }
  }

  #error(doing: string, path: string, cause: unknown): unknown {
    return copyError(doing, this.#show(path), cause, this.#options.view);
  }

  #show(path: string): string {
    const {view, path: top} = this.#options;
    return view.show(path === '' ? top : `${top.replace(/\/+$/, '')}/${path}`);
  }

  #quote(path: string): string {
    return JSON.stringify(this.#show(path));
  }
}

/** Returns the kind of a file by its stats. */
export function kindOf(stats: Stats): FileKind {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'directory';
  if (stats.isSymbolicLink()) return 'symbolic link';
  if (stats.isFIFO()) return 'FIFO';
  if (stats.isCharacterDevice()) return 'character device';
  return stats.isBlockDevice() ? 'block device' : 'socket';
}

/** Splits a device number (makedev(3)). */
function deviceOf(rdev: number): FileEntry['device'] {
  return {major: (rdev >>> 8) & 0xf_ff, minor: (rdev & 0xff) | ((rdev >>> 12) & 0xf_ff_00)};
}
