import {statSync, type BigIntStats} from 'node:fs';
import {readFile, stat} from 'node:fs/promises';
import {createDirectCalls} from './direct-calls.js';
import {ifPresent, isAbsent, withFileErrors} from './files.js';

/** Reads and parses text files. */
export interface ParsedFiles {
  /**
   * Resolves with what `parse` returns for the text of a file; undefined if the file does not exist. A path must always have
   * the same `parse`. Rejects with SystemError, and with the error of `parse`.
   */
  read<T>(path: string, parse: (text: string) => T): Promise<T | undefined>;
  /**
   * Resolves with what `list` resolves with; the same value again while no file of the directory was created, renamed or removed.
   * A file that `list` reads and that was changed in place, as by an editor, is found half a minute later. Rejects with SystemError,
   * and with the error of `list`.
   */
  readDirectory<T>(directory: string, list: () => Promise<T>): Promise<T>;
}

/** Reads a file each time. */
export const UNCACHED_FILES: ParsedFiles = {
  read: async (path, parse) => {
    const text = await readText(path);
    return text === undefined ? undefined : parse(text);
  },
  readDirectory: async (_directory, list) => await list(),
};

/**
 * Age of the last change of a file from which its identity is trusted, in ms: timestamps of some file systems have a granularity
 * of two seconds, and a file may change again within one.
 */
const SETTLED_MS = 3000;

interface CachedFile {
  readonly identity: string;
  readonly value: unknown;
}

/** Time for which the identity of a directory stands for its files, in ms. */
const LISTED_MS = 30_000;

interface CachedDirectory {
  readonly identity: string;
  readonly listedAtMs: number;
  readonly value: unknown;
}

/**
 * Reads files again only when they have changed, for readers that list the same files in rounds. Values are shared: callers must not
 * change them. It holds the files that were read in this round or the one before.
 */
export class FileCache implements ParsedFiles {
  readonly #now: () => number;
  readonly #isDirect = createDirectCalls(Number.POSITIVE_INFINITY);
  #files = new Map<string, CachedFile>();
  #before = new Map<string, CachedFile>();
  #directories = new Map<string, CachedDirectory>();
  #directoriesBefore = new Map<string, CachedDirectory>();

  /** `now` returns the time in ms since the epoch. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Begins a round, and forgets the files that were not read in the last one. */
  startRound(): void {
    this.#before = this.#files;
    this.#files = new Map();
    this.#directoriesBefore = this.#directories;
    this.#directories = new Map();
  }

  async readDirectory<T>(directory: string, list: () => Promise<T>): Promise<T> {
    // Both precede the list, as in `read`.
    const nowMs = this.#now();
    const found = await this.#stat(directory);
    const identity = found && fileIdentity(found);
    const known = this.#directories.get(directory) ?? this.#directoriesBefore.get(directory);
    const isRecent = known !== undefined && Math.abs(nowMs - known.listedAtMs) < LISTED_MS;
    if (isRecent && known.identity === identity) {
      this.#directories.set(directory, known);
      this.#keepFiles(directory);
      return known.value as T;
    }
    this.#directories.delete(directory);
    this.#directoriesBefore.delete(directory);
    const value = await list();
    if (found !== undefined && identity !== undefined && isSettled(found, nowMs))
      this.#directories.set(directory, {identity, value, listedAtMs: nowMs});
    return value;
  }

  /** Keeps the files of a directory that were read in the last round, although they are not read in this one. */
  #keepFiles(directory: string): void {
    const prefix = `${directory}/`;
    for (const [path, file] of this.#before)
      if (path.startsWith(prefix) && !this.#files.has(path)) this.#files.set(path, file);
  }

  async read<T>(path: string, parse: (text: string) => T): Promise<T | undefined> {
    // Both precede the read: a later change is found by the next call.
    const nowMs = this.#now();
    const found = await this.#stat(path);
    const identity = found && fileIdentity(found);
    const known = this.#files.get(path) ?? this.#before.get(path);
    if (known !== undefined && known.identity === identity) {
      this.#files.set(path, known);
      return known.value as T;
    }
    this.#files.delete(path);
    this.#before.delete(path);
    if (found === undefined || identity === undefined) return undefined;
    const value = await UNCACHED_FILES.read(path, parse);
    if (isSettled(found, nowMs)) this.#files.set(path, {identity, value});
    return value;
  }

  async #stat(path: string): Promise<BigIntStats | undefined> {
    return await withFileErrors('reading', path, async () => {
      if (this.#isDirect()) return statSync(path, {bigint: true, throwIfNoEntry: false});
      return await ifPresent(async () => await stat(path, {bigint: true}));
    });
  }
}

function isSettled({ctimeMs}: BigIntStats, nowMs: number): boolean {
  return nowMs - Number(ctimeMs) > SETTLED_MS;
}

/** Returns a text that changes when a file is replaced or changed. */
export function fileIdentity({dev, ino, size, mtimeNs, ctimeNs}: BigIntStats): string {
  return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
}

async function readText(path: string): Promise<string | undefined> {
  return await withFileErrors('reading', path, async () =>
    isAbsent(path) ? undefined : await ifPresent(() => readFile(path, 'utf8')),
  );
}
