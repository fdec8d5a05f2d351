import {constants} from 'node:fs';
import {chown, open, utimes, type FileHandle} from 'node:fs/promises';
import {hasErrno} from '../../base/errors.js';
import {fdPath, O_PATH} from '../../base/fs/file-handles.js';
import type {FileEntry} from '../../base/tar/file-entry.js';
import type {FileSystemView} from './file-system-view.js';

/** Options of an OwnerSetter. */
export interface OwnerSetterOptions {
  readonly view: FileSystemView;
  readonly preserves: boolean;
  readonly onWarning: (text: string) => void;
}

/** Owner in terms of this process. */
interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Mode that files lose if modes are not kept: that of the usual umask. */
const UMASK = 0o022;
const SET_ID_BITS = 0o6000;

/** Sets owner, mode and modification time of files that are written. Only root can set owners. */
export class OwnerSetter {
  readonly #options: OwnerSetterOptions;
  #hasWarned = false;

  constructor(options: OwnerSetterOptions) {
    this.#options = options;
  }

  /** Attributes of a directory that the source does not describe; its time is not set. */
  get defaultDirectory(): FileEntry {
    return {
      path: '',
      kind: 'directory',
      mode: 0o777 & ~UMASK,
      uid: 0,
      gid: 0,
      mtimeMs: NaN,
      size: 0,
      target: '',
      device: {major: 0, minor: 0},
      content: () => {
        throw new Error('a directory has no content');
      },
    };
  }

  /** Sets the attributes of an open file or directory. Rejects with the system error. */
  async set(file: FileHandle, entry: FileEntry): Promise<void> {
    const isOwned = await this.#setOwner(entry, ({uid, gid}) => file.chown(uid, gid));
    await file.chmod(this.#modeOf(entry, isOwned));
    if (!Number.isNaN(entry.mtimeMs)) await file.utimes(entry.mtimeMs / 1000, entry.mtimeMs / 1000);
  }

  /** Sets the owner and the time of a symbolic link. Rejects with the system error. */
  async setLink(path: Buffer, entry: FileEntry): Promise<void> {
    await using link = await open(path, O_PATH | constants.O_NOFOLLOW);
    if (!(await link.stat()).isSymbolicLink()) return;
    // The kernel resolves this path to the link itself, which nothing can replace now.
    const own = fdPath(link);
    await this.#setOwner(entry, ({uid, gid}) => chown(own, uid, gid));
    await utimes(own, entry.mtimeMs / 1000, entry.mtimeMs / 1000);
  }

  #modeOf({mode}: FileEntry, isOwned: boolean): number {
    if (!this.#options.preserves) return mode & 0o777 & ~UMASK;
    // With another owner, the file would run as somebody else.
    return isOwned ? mode : mode & ~SET_ID_BITS;
  }

  /** Returns whether the file has the owner of the entry. */
  async #setOwner(entry: FileEntry, set: (owner: Owner) => Promise<void>): Promise<boolean> {
    const owner = this.#ownerOf(entry);
    if (owner === undefined || process.geteuid?.() !== 0) return false;
    try {
      await set(owner);
      return true;
    } catch (error) {
      if (!hasErrno(error, 'EPERM', 'EINVAL', 'EOVERFLOW')) throw error;
      this.#warn('some owners could not be kept: the filesystem does not allow them');
      return false;
    }
  }

  /** Returns the owner to set; undefined for that of this process. */
  #ownerOf(entry: FileEntry): Owner | undefined {
    const {view, preserves} = this.#options;
    if (!preserves && !view.isContainer) return undefined;
    const {uid, gid} = preserves ? entry : {uid: 0, gid: 0};
    const outer = {uid: view.owners.uid.toOuter(uid), gid: view.owners.gid.toOuter(gid)};
    if (outer.uid === undefined || outer.gid === undefined)
      this.#warn('some owners could not be kept: they do not exist in the user namespace of the container');
    return {
      uid: outer.uid ?? view.owners.uid.toOuter(0) ?? 0,
      gid: outer.gid ?? view.owners.gid.toOuter(0) ?? 0,
    };
  }

  #warn(text: string): void {
    if (!this.#hasWarned) this.#options.onWarning(text);
    this.#hasWarned = true;
  }
}
