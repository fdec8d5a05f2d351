import {constants} from 'node:fs';
import {link, mkdir, open, rename, symlink, unlink, type FileHandle} from 'node:fs/promises';
import {textToBytes} from '../../base/byte-text.js';
import {hasErrno} from '../../base/errors.js';
import {createTemporaryName, removeAbandonedFiles} from '../../base/fs/atomic-write.js';
import {fdPath, O_PATH, OPEN_DIRECTORY} from '../../base/fs/file-handles.js';
import type {FileEntry} from '../../base/tar/file-entry.js';
import {createInDirectory} from './create-in-directory.js';
import {CopyError, copyError, type FileSystemView} from './file-system-view.js';
import {OwnerSetter} from './set-owner.js';
import {readChunks, writeContent} from './write-content.js';

/** Options of a TreeWriter. */
export interface TreeWriterOptions {
  readonly view: FileSystemView;
  /** Path of the directory, for messages. */
  readonly path: string;
  /** Path below the directory that the top of the tree gets; empty to write into the directory itself. */
  readonly name: string;
  /** Keeps owners and modes; otherwise, files belong to the user, in a container to its root. */
  readonly preserves: boolean;
  /** Receives files that are not written, and why. */
  readonly onSkip: (path: string, reason: string) => void;
  readonly onWarning: (text: string) => void;
  readonly signal: AbortSignal;
}

/** A directory on the way to the current file. */
interface OpenDirectory {
  readonly name: string;
  readonly handle: FileHandle;
  /** Attributes to set when the directory is left; undefined for those of an existing one. */
  entry: FileEntry | undefined;
}

const MAX_NAME_BYTES = 255;
const OPEN_NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * Writes files into a directory. No link is ever followed, and each file appears with its whole content and its
 * attributes, or not at all. The attributes of directories are set when the copy leaves them.
 */
export class TreeWriter {
  readonly #options: TreeWriterOptions;
  readonly #owners: OwnerSetter;
  readonly #stack: OpenDirectory[];
  /** Existing directories that were cleaned, by device and inode. */
  readonly #cleaned = new Set<string>();

  /** `directory` is open for reading; the caller closes it. */
  constructor(directory: FileHandle, options: TreeWriterOptions) {
    this.#options = options;
    this.#owners = new OwnerSetter(options);
    this.#stack = [{name: '', handle: directory, entry: undefined}];
  }

  /** Writes a file or creates a directory. Parents that do not exist are created. Rejects with SystemError. */
  async write(entry: FileEntry): Promise<void> {
    this.#options.signal.throwIfAborted();
    const names = this.#namesOf(entry.path);
    const name = names.at(-1);
    if (name === undefined) {
      if (entry.kind !== 'directory') throw new CopyError('a file in the archive has no name');
      return; // The directory exists and keeps its attributes.
    }
    try {
      await this.#enter(names.slice(0, -1));
      if (entry.kind === 'directory') await this.#push(name, entry);
      else await this.#writeFile(name, entry);
    } catch (error) {
      throw copyError('writing', this.#show(names), error, this.#options.view);
    }
  }

  /** Sets the attributes of the directories that are still open. Rejects with SystemError. */
  async finish(): Promise<void> {
    await this.#leave(1);
  }

  /** Closes the directories of a copy that failed, with their attributes as far as they can be set. */
  async close(): Promise<void> {
    while (this.#stack.length > 1) await this.#leave(this.#stack.length - 1).catch(() => undefined);
  }

  #namesOf(path: string): readonly string[] {
    const names = [...this.#options.name.split('/'), ...path.split('/')].filter((name) => name !== '');
    const wrong = names.find(
      (name) => name === '.' || name === '..' || Buffer.byteLength(name) > MAX_NAME_BYTES,
    );
    if (wrong === undefined) return names;
    throw new CopyError(`invalid file name ${JSON.stringify(wrong)}`);
  }

  /** Makes the directory with these names the current one. */
  async #enter(names: readonly string[]): Promise<void> {
    const known = names.findIndex((name, index) => this.#stack[index + 1]?.name !== name);
    await this.#leave(1 + (known < 0 ? names.length : known));
    for (const name of names.slice(this.#stack.length - 1)) await this.#push(name, undefined);
  }

  /** Leaves directories until `depth` are open, and sets their attributes. */
  async #leave(depth: number): Promise<void> {
    while (this.#stack.length > depth) {
      const left = this.#stack.pop();
      if (left === undefined) return;
      try {
        if (left.entry !== undefined) await this.#owners.set(left.handle, left.entry);
      } catch (error) {
        throw copyError('writing', this.#show([...this.#names, left.name]), error, this.#options.view);
      } finally {
        await left.handle.close();
      }
    }
  }

  get #current(): FileHandle {
    const top = this.#stack.at(-1);
    if (top === undefined) throw new Error('no directory is open');
    return top.handle;
  }

  get #names(): readonly string[] {
    return this.#stack.slice(1).map(({name}) => name);
  }

  /** Opens a directory of the current one, creates it if it does not exist, and makes it the current one. */
  async #push(name: string, entry: FileEntry | undefined): Promise<void> {
    const {handle, isNew} = await this.#openOrMake(name);
    if (!isNew) await this.#clean(handle);
    this.#stack.push({name, handle, entry: entry ?? (isNew ? this.#owners.defaultDirectory : undefined)});
  }

  /** Removes what a killed copy left in an existing directory, once. */
  async #clean(directory: FileHandle): Promise<void> {
    const {dev, ino} = await directory.stat();
    if (this.#cleaned.has(`${dev}:${ino}`)) return;
    this.#cleaned.add(`${dev}:${ino}`);
    // Files of other users are not a reason to refuse the copy.
    await removeAbandonedFiles(fdPath(directory)).catch(() => undefined);
  }

  async #openOrMake(name: string): Promise<{readonly handle: FileHandle; readonly isNew: boolean}> {
    const at = this.#at(name);
    const flags = OPEN_DIRECTORY | constants.O_NOFOLLOW;
    try {
      return {handle: await open(at, flags), isNew: false};
    } catch (error) {
      if (hasErrno(error, 'ENOTDIR', 'ELOOP'))
        throw new CopyError(
          `cannot replace ${JSON.stringify(this.#show([...this.#names, name]))}, which is not a directory, with a directory`,
          {
            cause: error,
            hint: 'symbolic links in the destination are not followed; name the directory itself',
          },
        );
      if (!hasErrno(error, 'ENOENT')) throw error;
    }
    // Only its owner can use the directory before it has its attributes.
    await createInDirectory(this.#current, () => mkdir(at, {mode: 0o700}));
    return {handle: await open(at, flags), isNew: true};
  }

  async #writeFile(name: string, entry: FileEntry): Promise<void> {
    const {kind, path} = entry;
    switch (kind) {
      case 'file':
        await this.#replace(name, async (at) => {
          await this.#writeNew(at, entry);
        });
        break;
      case 'symbolic link':
        await this.#replace(name, async (at) => {
          await createInDirectory(this.#current, () => symlink(textToBytes(entry.target), at));
          await this.#owners.setLink(at, entry);
        });
        break;
      case 'hard link':
        await this.#link(name, entry.target);
        break;
      default:
        this.#options.onSkip(this.#show(this.#namesOf(path)), `it is a ${kind}`);
    }
  }

  async #writeNew(at: Buffer, entry: FileEntry): Promise<void> {
    await using file = await createInDirectory(this.#current, () => open(at, OPEN_NEW, 0o600));
    await writeContent(file, entry, this.#options.signal);
    await this.#owners.set(file, entry);
  }

  /** Gives a file another name. The first name is opened like a directory of the destination: without links. */
  async #link(name: string, target: string): Promise<void> {
    const names = this.#namesOf(target);
    const parents = await this.#openParents(names.slice(0, -1));
    try {
      const directory = parents.at(-1) ?? this.#stack[0]?.handle;
      const from = textToBytes(`${fdPath(directory ?? this.#current)}/${names.at(-1) ?? ''}`);
      await this.#replace(name, async (at) => {
        await createInDirectory(this.#current, () => link(from, at));
      });
    } finally {
      for (const handle of parents) await handle.close();
    }
  }

  async #openParents(names: readonly string[]): Promise<readonly FileHandle[]> {
    const opened: FileHandle[] = [];
    let directory = this.#stack[0]?.handle ?? this.#current;
    try {
      for (const name of names) {
        const at = textToBytes(`${fdPath(directory)}/${name}`);
        directory = await open(at, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
        opened.push(directory);
      }
      return opened;
    } catch (error) {
      for (const handle of opened) await handle.close();
      throw error;
    }
  }

  /** Creates a file under a temporary name and gives it its name, so that it appears only as a whole. */
  async #replace(name: string, create: (at: Buffer) => Promise<void>): Promise<void> {
    const temporary = this.#at(await createTemporaryName());
    try {
      await create(temporary);
      await this.#rename(temporary, name);
    } finally {
      // After a rename between two names of one file, both still exist.
      await unlink(temporary).catch(() => undefined);
    }
  }

  async #rename(temporary: Buffer, name: string): Promise<void> {
    try {
      await createInDirectory(this.#current, () => rename(temporary, this.#at(name)));
    } catch (error) {
      if (hasErrno(error, 'EISDIR', 'ENOTEMPTY', 'EEXIST'))
        throw new CopyError(
          `cannot replace the directory ${JSON.stringify(this.#show([...this.#names, name]))} with a file`,
          {cause: error},
        );
      if (!hasErrno(error, 'EBUSY')) throw error;
      await this.#overwrite(temporary, name);
    }
  }

  /** Writes the content into a file on which a mount is, such as /etc/hosts, and which nothing can replace. */
  async #overwrite(temporary: Buffer, name: string): Promise<void> {
    await using place = await open(this.#at(name), O_PATH | constants.O_NOFOLLOW);
    if (!(await place.stat()).isFile()) throw new CopyError(`${JSON.stringify(name)} is not a file`);
    await using file = await open(fdPath(place), constants.O_WRONLY | constants.O_TRUNC);
    await using source = await open(temporary, constants.O_RDONLY | constants.O_NOFOLLOW);
    const content = () => readChunks(source);
    await writeContent(file, {content}, this.#options.signal);
  }

  #at(name: string): Buffer {
    return textToBytes(`${fdPath(this.#current)}/${name}`);
  }

  #show(names: readonly string[]): string {
    const {view, path} = this.#options;
    return view.show([path.replace(/\/+$/, ''), ...names].join('/'));
  }
}
