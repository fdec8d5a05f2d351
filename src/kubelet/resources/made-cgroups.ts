import {readFile, rm, stat} from 'node:fs/promises';
import {bootId} from '../../base/boot-id.js';
import {SystemError} from '../../base/errors.js';
import {ifPresent, replaceFile, withFileErrors} from '../../base/files.js';

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
 * kcri's. And which cgroups kcri has begun and not finished, so that the next one does. Read once: one that is used for
 * more than hasBegun is to be made under a lock and to go with it. Rejects with SystemError.
 */
export class MadeCgroups {
  readonly #path: string;
  #content: Content | undefined;

  constructor(rootDir: string) {
    this.#path = `${rootDir}/cgroups.json`;
  }

  /** Whether the directory that is there is of kcri's making; one that it had only begun is then taken as made. */
  async has(directory: string): Promise<boolean> {
    const {inodes} = await this.#read();
    const inode = Object.hasOwn(inodes, directory) ? inodes[directory] : undefined;
    if (inode === undefined) return false;
    const present = await inodeOf(directory);
    if (present === undefined || (inode !== BEGUN && inode !== present)) return false;
    if (inode === BEGUN) await this.#change({[directory]: present});
    return true;
  }

  /** To be called before they are made, while they aren't there or aren't finished. */
  async begin(directories: readonly string[]): Promise<void> {
    await this.#change(Object.fromEntries(directories.map((directory) => [directory, BEGUN])));
  }

  /** Whether one of them may be half made. */
  async hasBegun(directories: readonly string[]): Promise<boolean> {
    const {inodes} = await this.#read();
    return directories.some((directory) => Object.hasOwn(inodes, directory) && inodes[directory] === BEGUN);
  }

  async delete(directories: readonly string[]): Promise<void> {
    const known = Object.entries((await this.#read()).inodes);
    const others = known.filter(([path]) => !directories.includes(path));
    if (others.length < known.length) await this.#write(Object.fromEntries(others));
  }

  async #change(changed: Content['inodes']): Promise<void> {
    await this.#write({...(await this.#read()).inodes, ...changed});
  }

  async #read(): Promise<Content> {
    if (this.#content !== undefined) return this.#content;
    const text = await withFileErrors('reading', this.#path, () =>
      ifPresent(() => readFile(this.#path, 'utf8')),
    );
    // A power failure may leave it empty, and was the end of the boot that it told of.
    const known = text === undefined || text === '' ? undefined : this.#parse(text);
    this.#content = known?.bootId === bootId() ? known : {bootId: bootId(), inodes: {}};
    return this.#content;
  }

  #parse(text: string): Content {
    try {
      const content = JSON.parse(text) as Partial<Content>;
      if (typeof content.bootId === 'string' && typeof content.inodes === 'object') return content as Content;
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
  async #write(inodes: Content['inodes']): Promise<void> {
    const content = {bootId: bootId(), inodes};
    if (Object.keys(inodes).length === 0)
      await withFileErrors('removing', this.#path, () => rm(this.#path, {force: true}));
    else
      await withFileErrors('writing', this.#path, () =>
        replaceFile(this.#path, JSON.stringify(content), 0o600),
      );
    this.#content = content;
  }
}

async function inodeOf(directory: string): Promise<string | undefined> {
  return await withFileErrors('looking at', directory, async () => {
    const status = await ifPresent(() => stat(directory, {bigint: true}));
    return status?.ino.toString();
  });
}
