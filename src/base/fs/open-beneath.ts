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
    walk = new Walk(await open(base, OPEN_ENTRY | constants.O_DIRECTORY), {base, directoryMode});
    return (await walk.to(path)).directory;
  } catch (error) {
    throw fileError('opening', shown, error);
  } finally {
    await walk?.close();
  }
}

/** Place of a path: a directory and the name in it, which need not exist. */
export interface PathPlace {
  readonly directory: FileHandle;
  /** Undefined if the path is the directory itself, such as `/` or `..`. */
  readonly name: string | undefined;
}

/** Options of openParentInRoot. */
export interface OpenInRootOptions {
  /** Follows a symbolic link at the end of the path. One before a slash is followed anyway. */
  readonly followsLast: boolean;
}

/**
 * Opens a path as a process with this root directory sees it: absolute links start at `root`, and `..` does not leave
 * it. Like openBeneath, it resolves links by their text and returns an O_PATH handle, so that a link of /proc leads to
 * a path below `root` or nowhere. Rejects with the system error, or with SystemError for too many links.
 */
export async function openInRoot(root: FileHandle, path: string): Promise<FileHandle> {
  const walk = await walkInRoot(root, 'open');
  try {
    return (await walk.to(path)).directory;
  } finally {
    await walk.close();
  }
}

/** Opens the directory of a path, whose last component need not exist, as openInRoot resolves it. Rejects as openInRoot. */
export async function openParentInRoot(
  root: FileHandle,
  path: string,
  {followsLast}: OpenInRootOptions,
): Promise<PathPlace> {
  const walk = await walkInRoot(root, followsLast ? 'parent' : 'parent of link');
  try {
    return await walk.to(path);
  } finally {
    await walk.close();
  }
}

async function walkInRoot(root: FileHandle, last: LastStep): Promise<Walk> {
  return new Walk(await open(`${fdPath(root)}/.`, O_PATH | constants.O_DIRECTORY), {base: '/', last});
}

/** Treatment of the last component: it is opened, or the walk ends in its directory, with a link followed or not. */
type LastStep = 'open' | 'parent' | 'parent of link';

interface WalkOptions {
  readonly base: string;
  readonly directoryMode?: number | undefined;
  readonly last?: LastStep;
}

class Walk {
  readonly #root: FileHandle;
  readonly #base: string;
  readonly #directoryMode: number | undefined;
  readonly #last: LastStep;
  /** Last component of a walk to the directory of a path. */
  #lastName: string | undefined;
  /** Handle of the current directory; the root handle at the root. */
  #current: FileHandle;
  /** Components from the root to the current directory, none of them a link. */
  #names: string[] = [];
  #steps: Step[] = [];
  #links = 0;
  #arrived = false;

  constructor(root: FileHandle, {base, directoryMode, last = 'open'}: WalkOptions) {
    this.#root = root;
    this.#base = base;
    this.#directoryMode = directoryMode;
    this.#last = last;
    this.#current = root;
  }

  /** Resolves the path. Without `parent`, the `directory` of the result is the object itself. */
  async to(path: string): Promise<PathPlace> {
    this.#steps = path.split('/').map((name) => ({name, own: true}));
    for (let step = this.#steps.shift(); step !== undefined; step = this.#steps.shift())
      await this.#take(step);
    this.#arrived = true;
    return {directory: this.#current, name: this.#lastName};
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
    if (this.#endsBefore(own)) {
      await this.#endBefore(name);
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

  /** Reports whether the walk ends in the directory of the component that is taken. */
  #endsBefore(own: boolean): boolean {
    if (this.#last === 'open') return false;
    return this.#last === 'parent' ? this.#steps.every(isEmpty) : own && this.#steps.length === 0;
  }

  /** Ends the walk in the current directory, unless the last component is a link to follow. */
  async #endBefore(name: string): Promise<void> {
    const target = this.#last === 'parent' ? await readLinkIfAny(this.#at(name)) : undefined;
    if (target === undefined) this.#lastName = name;
    else await this.#followTo(name, target);
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
    await this.#followTo(name, await readlink(this.#at(name)));
  }

  async #followTo(name: string, target: string): Promise<void> {
    if (++this.#links > MAX_LINKS) throw new SystemError(`too many links at ${this.#show(name)}`);
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
    return JSON.stringify([this.#base === '/' ? '' : this.#base, ...this.#names, name].join('/'));
  }

  #leadsOut(name: string): SystemError {
    return new SystemError(`the link ${this.#show(name)} leads out of ${JSON.stringify(this.#base)}`);
  }
}

/** Reports whether a component does not move: it is empty or `.`. */
function isEmpty({name}: Step): boolean {
  return name === '' || name === '.';
}

/** Returns the text of a link; undefined for anything else and if it does not exist. */
async function readLinkIfAny(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'EINVAL')) return undefined;
    throw error;
  }
}

async function isLink(place: FileHandle): Promise<boolean> {
  return (await place.stat()).isSymbolicLink();
}
