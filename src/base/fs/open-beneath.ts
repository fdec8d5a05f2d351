import {constants} from 'node:fs';
import {mkdir, open, readlink, type FileHandle} from 'node:fs/promises';
import {hasErrno, SystemError} from '../errors.js';
import {fdPath, O_PATH, OPEN_DIRECTORY} from './file-handles.js';
import {fileError} from './files.js';

const OPEN_ENTRY = O_PATH | constants.O_NOFOLLOW;

/** Limit of the kernel. */
const MAX_LINKS = 40;

/** A path component that is still to be resolved. */
interface Step {
  readonly name: string;
  /**
   * True if the component is part of the requested path rather than of a link, so that a missing directory may be
   * created.
   */
  readonly own: boolean;
}

/**
 * Opens a relative path below a directory safely, even if the tree changes meanwhile. Returns an O_PATH handle: its fd
 * can be mounted, examined and used as a base, but not read. The kernel never resolves a link: each component is opened
 * on its own and links are resolved here; a link that leads out of the directory is an error. An absolute link is
 * accepted if its text starts with `base`.
 *
 * `base` must be a real path. With `directoryMode`, missing directories are created with exactly these permission bits.
 * Rejects with SystemError.
 */
export async function openBeneath(base: string, path: string, directoryMode?: number): Promise<FileHandle> {
  const shown = `${base}/${path}`;
  let walk: Walk | undefined;
  try {
    walk = new Walk(await open(base, OPEN_ENTRY | constants.O_DIRECTORY), base, directoryMode);
    return await walk.to(path);
  } catch (error) {
    throw fileError('opening', shown, error);
  } finally {
    await walk?.close();
  }
}

class Walk {
  readonly #root: FileHandle;
  readonly #base: string;
  readonly #directoryMode: number | undefined;
  /** Handle of the current directory; the root handle at the root. */
  #current: FileHandle;
  /** Components from the root to the current directory, none of them a link. */
  #names: string[] = [];
  #steps: Step[] = [];
  #links = 0;
  #arrived = false;

  constructor(root: FileHandle, base: string, directoryMode: number | undefined) {
    this.#root = root;
    this.#base = base;
    this.#directoryMode = directoryMode;
    this.#current = root;
  }

  async to(path: string): Promise<FileHandle> {
    this.#steps = path.split('/').map((name) => ({name, own: true}));
    for (let step = this.#steps.shift(); step !== undefined; step = this.#steps.shift())
      await this.#take(step);
    this.#arrived = true;
    return this.#current;
  }

  /** Closes all handles except the result. */
  async close(): Promise<void> {
    if (!this.#arrived || this.#current !== this.#root) await this.#root.close();
    if (!this.#arrived && this.#current !== this.#root) await this.#current.close();
  }

  async #take({name, own}: Step): Promise<void> {
    if (name === '' || name === '.') return;
    if (name === '..') {
      await this.#up();
      return;
    }
    const child = await this.#openOrMake(name, own);
    if (await isLink(child)) {
      await child.close();
      await this.#follow(name);
    } else {
      await this.#move(child);
      this.#names.push(name);
    }
  }

  async #openOrMake(name: string, own: boolean): Promise<FileHandle> {
    try {
      return await open(this.#at(name), OPEN_ENTRY);
    } catch (error) {
      if (!own || this.#directoryMode === undefined || !hasErrno(error, 'ENOENT')) throw error;
      return await this.#make(name, this.#directoryMode);
    }
  }

  /** Creates a directory and opens it without following a link that replaced it. */
  async #make(name: string, mode: number): Promise<FileHandle> {
    await mkdir(this.#at(name), {mode});
    const made = await open(this.#at(name), OPEN_DIRECTORY | constants.O_NOFOLLOW);
    try {
      await made.chmod(mode);
      return made;
    } catch (error) {
      await made.close();
      throw error;
    }
  }

  async #follow(name: string): Promise<void> {
    if (++this.#links > MAX_LINKS) throw new SystemError(`too many links at ${this.#show(name)}`);
    const target = await readlink(this.#at(name));
    const below = target.startsWith('/') ? this.#belowBase(target) : target;
    if (below === undefined) throw this.#leadsOut(name);
    if (target.startsWith('/')) await this.#restart();
    this.#steps.unshift(...below.split('/').map((step) => ({name: step, own: false})));
  }

  #belowBase(target: string): string | undefined {
    const prefix = this.#base === '/' ? '/' : `${this.#base}/`;
    return `${target}/`.startsWith(prefix) ? target.slice(prefix.length) : undefined;
  }

  /** Resolves `..` by walking down from the root again, because the current directory may have been moved. */
  async #up(): Promise<void> {
    const names = this.#names.slice(0, -1);
    if (this.#names.length === 0 && this.#base !== '/') throw this.#leadsOut('..');
    await this.#restart();
    for (const name of names) {
      await this.#move(await open(this.#at(name), OPEN_ENTRY));
      if (await isLink(this.#current)) throw new SystemError(`${this.#show(name)} was replaced by a link`);
      this.#names.push(name);
    }
  }

  async #restart(): Promise<void> {
    await this.#move(this.#root);
    this.#names = [];
  }

  async #move(place: FileHandle): Promise<void> {
    const left = this.#current;
    this.#current = place;
    if (left !== this.#root) await left.close();
  }

  #at(name: string): string {
    return `${fdPath(this.#current)}/${name}`;
  }

  #show(name: string): string {
    return JSON.stringify([this.#base, ...this.#names, name].join('/'));
  }

  #leadsOut(name: string): SystemError {
    return new SystemError(`the link ${this.#show(name)} leads out of ${JSON.stringify(this.#base)}`);
  }
}

async function isLink(place: FileHandle): Promise<boolean> {
  return (await place.stat()).isSymbolicLink();
}
