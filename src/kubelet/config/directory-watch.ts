import {watch, type FSWatcher} from 'node:fs';
import {stat} from 'node:fs/promises';
import {isSystemCallError} from '../../base/errors.js';
import {EVERYTHING, type ChangedNames} from './changed-names.js';

/** One directory under inotify: the one that was found at its path, wherever it is moved to. */
export class DirectoryWatch {
  readonly #path: string;
  readonly #identity: string;
  readonly #watcher: FSWatcher;
  #isBroken = false;

  private constructor(path: string, identity: string, changes: ChangedNames) {
    this.#path = path;
    this.#identity = identity;
    this.#watcher = watch(path, (_, name) => {
      changes.add(name ?? EVERYTHING);
    });
    this.#watcher.on('error', () => {
      this.#isBroken = true;
      changes.add(EVERYTHING);
    });
  }

  /** Begins to tell of changes of entries by their names. Throws the system's error when that can't be. */
  static async open(path: string, changes: ChangedNames): Promise<DirectoryWatch> {
    return new DirectoryWatch(path, await identityOf(path), changes);
  }

  /** False when it tells nothing any more of what is at the path, so that another one is needed. */
  async isGood(path = this.#path): Promise<boolean> {
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

/** Two directories never have the same at a time; one that comes after another has its own time of birth. */
async function identityOf(path: string): Promise<string> {
  const {dev, ino, birthtimeNs} = await stat(path, {bigint: true});
  return `${dev} ${ino} ${birthtimeNs}`;
}
