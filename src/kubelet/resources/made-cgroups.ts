import {readFile, rm, stat} from 'node:fs/promises';
import {SystemError} from '../../base/errors.js';
import {ifPresent, withFileErrors, writeFileAtomic} from '../../base/files.js';

/** In place of the inode of a directory that kcri is about to make, or has made when it was killed. */
const BEGUN = '';

/** The content of `<rootDir>/cgroups.json`: the inodes of the directories that kcri has made, since the boot. */
interface Content {
  readonly bootId: string;
  readonly inodes: Readonly<Record<string, string>>;
}

/**
 * Which of the cgroups above pods kcri has made itself, and may therefore set and remove; another kubelet may have
 * its pods in the same ones. Known by their inodes, so that one that was made anew by somebody else isn't taken for
 * kcri's. And which cgroups kcri has begun and not finished, so that the next one does. To be used by one process at a
 * time, but for hasBegun. Rejects with SystemError.
 */
export class MadeCgroups {
  readonly #path: string;

  constructor(rootDir: string) {
    this.#path = `${rootDir}/cgroups.json`;
  }

  async has(directory: string): Promise<boolean> {
    const {inodes} = await this.#read();
    const inode = Object.hasOwn(inodes, directory) ? inodes[directory] : undefined;
    if (inode === undefined) return false;
    const present = await inodeOf(directory);
    return present !== undefined && (inode === BEGUN || inode === present);
  }

  /** To be called before they are made, while they aren't there or aren't finished. */
  async begin(directories: readonly string[]): Promise<void> {
    const {bootId, inodes} = await this.#read();
    const begun = Object.fromEntries(directories.map((directory) => [directory, BEGUN]));
    await this.#write({bootId, inodes: {...inodes, ...begun}});
  }

  /** Whether one of them may be half made. */
  async hasBegun(directories: readonly string[]): Promise<boolean> {
    const {inodes} = await this.#read();
    return directories.some((directory) => Object.hasOwn(inodes, directory) && inodes[directory] === BEGUN);
  }

  async add(directory: string): Promise<void> {
    const {bootId, inodes} = await this.#read();
    const inode = await inodeOf(directory);
    if (inode === undefined || inode === inodes[directory]) return;
    await this.#write({bootId, inodes: {...inodes, [directory]: inode}});
  }

  async delete(directories: readonly string[]): Promise<void> {
    const {bootId, inodes} = await this.#read();
    const known = Object.entries(inodes);
    const others = known.filter(([path]) => !directories.includes(path));
    if (others.length < known.length) await this.#write({bootId, inodes: Object.fromEntries(others)});
  }

  async #read(): Promise<Content> {
    const bootId = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
    const text = await withFileErrors('reading', this.#path, () =>
      ifPresent(() => readFile(this.#path, 'utf8')),
    );
    const known = text === undefined ? undefined : this.#parse(text);
    return known?.bootId === bootId ? known : {bootId, inodes: {}};
  }

  #parse(text: string): Content {
    try {
      const {bootId, inodes} = JSON.parse(text) as Partial<Content>;
      if (typeof bootId === 'string' && typeof inodes === 'object') return {bootId, inodes};
    } catch (cause) {
      throw this.#broken(cause);
    }
    throw this.#broken(undefined);
  }

  #broken(cause: unknown): SystemError {
    return new SystemError(`the file "${this.#path}" is not what kcri wrote`, {
      cause,
      hint: 'remove it; kcri then leaves the cgroups above its pods as they are',
    });
  }

  /** Of nothing no file is kept: the root directory may go with its last pod. */
  async #write(content: Content): Promise<void> {
    if (Object.keys(content.inodes).length === 0) {
      await withFileErrors('removing', this.#path, () => rm(this.#path, {force: true}));
      return;
    }
    await writeFileAtomic(this.#path, JSON.stringify(content), 0o600);
  }
}

async function inodeOf(directory: string): Promise<string | undefined> {
  return await withFileErrors('looking at', directory, async () => {
    const status = await ifPresent(() => stat(directory, {bigint: true}));
    return status?.ino.toString();
  });
}
