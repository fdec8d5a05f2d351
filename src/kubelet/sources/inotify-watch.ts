import {watch, type FSWatcher} from 'node:fs';
import {stat} from 'node:fs/promises';
import {isSystemCallError} from '../../base/errors.js';
import {ALL_PATHS, type ChangedPaths} from './changed-paths.js';

/** inotify watch of a directory. It follows the directory across renames. */
export class InotifyWatch {
  readonly #path: string;
  readonly #identity: string;
  readonly #watcher: FSWatcher;
  #isBroken = false;

  private constructor(path: string, identity: string, changes: ChangedPaths) {
    this.#path = path;
    this.#identity = identity;
    this.#watcher = watch(path, (event, name) => {
      changes.add(name ?? ALL_PATHS, event === 'rename');
    });
    this.#watcher.on('error', () => {
      this.#isBroken = true;
      changes.add(ALL_PATHS);
    });
  }

  /** Starts to add the names of changed entries to `changes`. Rejects with the system's error. */
  static async open(path: string, changes: ChangedPaths): Promise<InotifyWatch> {
    return new InotifyWatch(path, await identityOf(path), changes);
  }

  /** Reports whether the watch still covers the directory at the path; otherwise a new watch is needed. */
  async isWatching(path = this.#path): Promise<boolean> {
    if (this.#isBroken || path !== this.#path) return false;
    try {
      return (await identityOf(path)) === this.#identity;
    } catch (error) {
      if (isSystemCallError(error)) return false;
      throw error;
    }
  }

  close(): void {
    this.#watcher.close();
  }
}

/** Returns an identifier of the directory; the birth time distinguishes directories that reuse an inode. */
async function identityOf(path: string): Promise<string> {
  const {dev, ino, birthtimeNs} = await stat(path, {bigint: true});
  return `${dev} ${ino} ${birthtimeNs}`;
}
