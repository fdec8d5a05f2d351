import {watch, type FSWatcher} from 'node:fs';
import {lstat, readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {ifPresent} from '../../../base/fs/files.js';

/** Directories below the root that are watched; more are not plausible, and inotify watches are few. */
const MAX_DIRECTORIES = 256;

/** Sockets in a directory and below, with a notice of every change. Names that start with a dot do not count. */
export class SocketDirectory {
  readonly #root: string;
  readonly #onChange: () => void;
  readonly #watches = new Map<string, FSWatcher>();

  constructor(root: string, onChange: () => void) {
    this.#root = root;
    this.#onChange = onChange;
  }

  /** Resolves with an identity of each socket by its path, and watches the directories. Rejects with the system's error. */
  async list(): Promise<ReadonlyMap<string, string>> {
    const sockets = new Map<string, string>();
    const directories = [this.#root];
    for (const directory of directories) {
      this.#watch(directory);
      for (const entry of (await ifPresent(() => readdir(directory, {withFileTypes: true}))) ?? []) {
        const path = join(directory, entry.name);
        if (entry.name.startsWith('.')) continue;
        if (entry.isDirectory() && directories.length < MAX_DIRECTORIES) directories.push(path);
        if (!entry.isSocket()) continue;
        const found = await ifPresent(() => lstat(path, {bigint: true}));
        if (found !== undefined) sockets.set(path, `${found.dev} ${found.ino} ${found.birthtimeNs}`);
      }
    }
    for (const [path, watcher] of this.#watches)
      if (!directories.includes(path)) {
        watcher.close();
        this.#watches.delete(path);
      }
    return sockets;
  }

  /** Watches a directory before it is read, so that no change is missed. */
  #watch(directory: string): void {
    if (this.#watches.has(directory)) return;
    const watcher = watch(directory, () => {
      this.#onChange();
    });
    watcher.on('error', () => {
      watcher.close();
      this.#watches.delete(directory);
      this.#onChange();
    });
    this.#watches.set(directory, watcher);
  }

  close(): void {
    for (const watcher of this.#watches.values()) watcher.close();
    this.#watches.clear();
  }
}
