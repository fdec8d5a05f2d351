import {stateDirectory} from '../../../base/fs/state-directory.js';
import {lstatSync} from 'node:fs';
import {readFile, writeFile} from 'node:fs/promises';
import {dirname} from 'node:path';
import {bootId} from '../../../base/boot-id.js';
import {hasErrno, SystemError} from '../../../base/errors.js';
import {removeAtomicFile, writeFileAtomicWithoutSync} from '../../../base/fs/atomic-write.js';
import {fileIdentity} from '../../../base/fs/file-cache.js';
import {ifPresent, withFileErrors} from '../../../base/fs/files.js';
import {makeDirectoryPath} from '../../../base/fs/make-directory-path.js';
import {acquireLock} from '../../../base/fs/lock.js';
import {CGROUPS_LOCK} from '../../../base/fs/machine-locks.js';
import type {CgroupRoot} from '../../resources/cgroup-root.js';
import {inodeOf} from './hierarchies.js';

/** Work with the ledger. */
interface Work {
  /** Returns the cgroups to record as incomplete before the work. */
  readonly begin: () => readonly string[];
  readonly run: (created: CreatedCgroups) => Promise<void>;
}

/** Work of one root directory that shares the lock, and one reading and one writing of the ledger. */
interface Session {
  readonly rootDir: string;
  readonly works: Work[];
  /** Resolves with the errors by index of the work. */
  readonly done: Promise<ReadonlyMap<number, unknown>>;
}

/** Other processes wait meanwhile, and work waits for the others that share its session. */
const MAX_WORKS = 8;

/** Session that has not started. */
let nextSession: Session | undefined;
/** End of the last session of this process; it never rejects. */
let lastSession: Promise<unknown> = Promise.resolve();

/**
 * Runs work with the ledger under the lock for the cgroups above pods. Work that waits for the lock runs one after the other
 * under one lock: a hundred pods that start at once would poll for it. Cgroups that `begin` returns, which is called under the lock,
 * are recorded as incomplete before, by one write for all that share the lock. Rejects with SystemError.
 */
export async function withCreatedCgroups(
  {rootDir}: CgroupRoot,
  run: Work['run'],
  begin: Work['begin'] = () => [],
): Promise<void> {
  if (nextSession?.rootDir !== rootDir || nextSession.works.length >= MAX_WORKS)
    nextSession = createSession(rootDir);
  const {works, done} = nextSession;
  const index = works.push({run, begin}) - 1;
  const errors = await done;
  if (errors.has(index)) throw errors.get(index);
}

function createSession(rootDir: string): Session {
  const works: Work[] = [];
  const done = lastSession.then(async () => {
    if (nextSession?.works === works) nextSession = undefined;
    return await workUnderLock(rootDir, works);
  });
  lastSession = done.catch(() => undefined);
  return {rootDir, works, done};
}

async function workUnderLock(rootDir: string, works: readonly Work[]): Promise<ReadonlyMap<number, unknown>> {
  // The lock is global, because processes with other root directories use the same parent cgroups.
  const lock = await acquireLock(CGROUPS_LOCK);
  try {
    const created = new CreatedCgroups(rootDir);
    const errors = new Map<number, unknown>();
    await beginAll(created, works, errors);
    for (const [index, {run}] of works.entries())
      if (!errors.has(index)) await run(created).catch((error: unknown) => errors.set(index, error));
    await created.flush();
    return errors;
  } finally {
    await lock[Symbol.asyncDispose]();
  }
}

/** Records what the works begin with, and adds the errors of those that cannot run. */
async function beginAll(
  created: CreatedCgroups,
  works: readonly Work[],
  errors: Map<number, unknown>,
): Promise<void> {
  const begun = works.map(({begin}, index) => {
    try {
      return begin();
    } catch (error) {
      errors.set(index, error);
      return [];
    }
  });
  await created.begin(begun.flat()).catch((error: unknown) => {
    for (const [index, directories] of begun.entries()) if (directories.length > 0) errors.set(index, error);
  });
}

/** Value in place of the inode of a directory whose creation has started and may be incomplete. */
const INCOMPLETE = '';

/** Content of `<rootDir>/kcri/cgroups.json`: inodes of the directories that kcri has created since boot. */
interface Content {
  readonly bootId: string;
  readonly inodes: Readonly<Record<string, string>>;
}

/** Ledgers that this process has written, by path, each with the identity of its file. */
const written = new Map<string, {readonly identity: string; readonly content: Content}>();

/**
 * Ledger of the cgroups of pods and above pods that kcri has created and may therefore change and remove; another
 * kubelet may use the same ones. Inodes identify them, so that a cgroup recreated by another process does not count.
 * Also records incomplete cgroups, which the next process completes, so that what has been created since then is written only
 * at the end (flush): a write for each of a pod's dozens of cgroups would delay the first pod of a node. The file is read
 * once: create an instance under a lock and discard it with the lock, unless only hasAny, hasBegun and isOwn are used.
 * Methods reject with SystemError.
 */
export class CreatedCgroups {
  readonly #path: string;
  #content: Content | undefined;
  /** True if the file lacks directories that were created since `begin`. */
  #isStale = false;
  /** True if the file exists, and therefore its directory. */
  #isStored = false;

  constructor(rootDir: string) {
    this.#path = `${stateDirectory(rootDir)}/cgroups.json`;
  }

  /** Reports whether kcri created an existing directory. One recorded as incomplete is then recorded as created. */
  async has(directory: string): Promise<boolean> {
    const {inodes} = await this.#read();
    const inode = Object.hasOwn(inodes, directory) ? inodes[directory] : undefined;
    if (inode === undefined) return false;
    const present = inodeOf(directory);
    if (present === undefined || (inode !== INCOMPLETE && inode !== present)) return false;
    if (inode === INCOMPLETE) this.#keep({...inodes, [directory]: present});
    return true;
  }

  /** Records directories as incomplete. Must be called before they are created. */
  async begin(directories: readonly string[]): Promise<void> {
    const {inodes} = await this.#read();
    const others = directories.filter((directory) => inodes[directory] !== INCOMPLETE);
    if (others.length === 0) return;
    await this.#write({
      ...inodes,
      ...Object.fromEntries(others.map((directory) => [directory, INCOMPLETE])),
    });
  }

  /** Reports whether the ledger has one of the directories. */
  async hasAny(directories: readonly string[]): Promise<boolean> {
    const {inodes} = await this.#read();
    return directories.some((directory) => Object.hasOwn(inodes, directory));
  }

  /** Reports whether one of the directories may be incomplete. */
  async hasBegun(directories: readonly string[]): Promise<boolean> {
    const {inodes} = await this.#read();
    return directories.some(
      (directory) => Object.hasOwn(inodes, directory) && inodes[directory] === INCOMPLETE,
    );
  }

  /**
   * Records one pod's directories, of which the first represents the others, as created, if begin was called for each
   * of them; otherwise another process created some, and they are removed from the ledger.
   */
  async finish(directories: readonly string[]): Promise<void> {
    const {inodes} = await this.#read();
    const [first] = directories;
    const isOwn = directories.every((directory) => Object.hasOwn(inodes, directory));
    const others = Object.entries(inodes).filter(([path]) => !directories.includes(path));
    if (isOwn && first !== undefined) {
      const inode = inodes[first] === INCOMPLETE ? inodeOf(first) : inodes[first];
      others.push([first, inode ?? INCOMPLETE]);
    }
    this.#keep(Object.fromEntries(others));
  }

  /** Records existing directories, which another kubelet has created and left. */
  async adopt(directories: readonly string[]): Promise<void> {
    const {inodes} = await this.#read();
    const present = directories.map((directory) => [directory, inodeOf(directory)] as const);
    const existing = present.filter((entry): entry is readonly [string, string] => entry[1] !== undefined);
    this.#keep({...inodes, ...Object.fromEntries(existing)});
  }

  /** Writes what `has`, `finish` and `adopt` have recorded. */
  async flush(): Promise<void> {
    if (this.#isStale) await this.#write((await this.#read()).inodes);
  }

  /** Reports whether kcri created one of the directories, which may have been removed since then. */
  async isOwn(directories: readonly string[]): Promise<boolean> {
    const {inodes} = await this.#read();
    for (const directory of directories) {
      const inode = Object.hasOwn(inodes, directory) ? inodes[directory] : undefined;
      const present = inodeOf(directory);
      if (inode !== undefined && (present === undefined || inode === INCOMPLETE || inode === present))
        return true;
    }
    return false;
  }

  /** Removes directories from the ledger. */
  async delete(directories: readonly string[]): Promise<void> {
    const known = Object.entries((await this.#read()).inodes);
    const others = known.filter(([path]) => !directories.includes(path));
    if (others.length < known.length) await this.#write(Object.fromEntries(others));
  }

  /** Records the content until `flush`. */
  #keep(inodes: Content['inodes']): void {
    this.#content = {bootId: bootId(), inodes};
    this.#isStale = true;
  }

  async #read(): Promise<Content> {
    if (this.#content !== undefined) return this.#content;
    const known = written.get(this.#path);
    if (known !== undefined && known.identity === identityOf(this.#path)) {
      this.#isStored = true;
      this.#content = known.content;
      return known.content;
    }
    const text = await withFileErrors('reading', this.#path, () =>
      ifPresent(() => readFile(this.#path, 'utf8')),
    );
    this.#isStored = text !== undefined;
    // The file may be empty after a power failure. Its content would be obsolete anyway after a reboot.
    const stored = text === undefined || text === '' ? undefined : this.#parse(text);
    this.#content = stored?.bootId === bootId() ? stored : {bootId: bootId(), inodes: {}};
    return this.#content;
  }

  #parse(text: string): Content {
    try {
      const content = JSON.parse(text) as Partial<Content>;
      if (typeof content.bootId === 'string' && typeof content.inodes === 'object') return content as Content;
    } catch (cause) {
      throw this.#invalidFileError(cause);
    }
    throw this.#invalidFileError(undefined);
  }

  #invalidFileError(cause: unknown): SystemError {
    return new SystemError(`invalid file "${this.#path}"`, {
      cause,
      hint: 'remove it; kcri then keeps the parent cgroups of its pods unchanged',
    });
  }

  /** Writes the ledger; an empty one is removed, so that the root directory can be removed after its last pod. */
  async #write(inodes: Content['inodes']): Promise<void> {
    const content = {bootId: bootId(), inodes};
    written.delete(this.#path);
    if (Object.keys(inodes).length === 0) await removeAtomicFile(this.#path);
    else {
      if (!this.#isStored) await makeDirectoryPath(dirname(this.#path), 0o750);
      await withFileErrors('writing', this.#path, () => this.#replace(JSON.stringify(content)));
      written.set(this.#path, {identity: identityOf(this.#path), content});
    }
    this.#isStored = Object.keys(inodes).length > 0;
    this.#content = content;
    this.#isStale = false;
  }

  /** Replaces the file; on a full disk in place, because a shorter ledger fits where no second file does. */
  async #replace(text: string): Promise<void> {
    try {
      await writeFileAtomicWithoutSync(this.#path, text, 0o600);
    } catch (error) {
      if (!hasErrno(error, 'ENOSPC')) throw error;
      await writeFile(this.#path, text, {mode: 0o600});
    }
  }
}

/** Returns the identity of a ledger's file; empty without a file. Asked on this thread, as in hierarchies.ts. */
function identityOf(path: string): string {
  const found = lstatSync(path, {bigint: true, throwIfNoEntry: false});
  return found === undefined ? '' : fileIdentity(found);
}
