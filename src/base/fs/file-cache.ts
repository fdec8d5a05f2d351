import {statSync, type BigIntStats} from 'node:fs';
import {readFile, stat} from 'node:fs/promises';
import {createDirectCalls} from './direct-calls.js';
import {ifPresent, withFileErrors} from './files.js';

/** Reads and parses text files. */
export interface ParsedFiles {
  /**
   * Resolves with what `parse` returns for the text of a file; undefined if the file does not exist. A path must always have
   * the same `parse`. Rejects with SystemError, and with the error of `parse`.
   */
  read<T>(path: string, parse: (text: string) => T): Promise<T | undefined>;
}

/** Reads a file each time. */
export const UNCACHED_FILES: ParsedFiles = {
  read: async (path, parse) => {
    const text = await readText(path);
    return text === undefined ? undefined : parse(text);
  },
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

/**
 * Reads files again only when they have changed, for readers that list the same files in rounds. Values are shared: callers must not
 * change them. It holds the files that were read in this round or the one before.
 */
export class FileCache implements ParsedFiles {
  readonly #now: () => number;
  readonly #isDirect = createDirectCalls(Number.POSITIVE_INFINITY);
  #files = new Map<string, CachedFile>();
  #before = new Map<string, CachedFile>();

  /** `now` returns the time in ms since the epoch. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Begins a round, and forgets the files that were not read in the last one. */
  startRound(): void {
    this.#before = this.#files;
    this.#files = new Map();
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
    if (nowMs - Number(found.ctimeMs) > SETTLED_MS) this.#files.set(path, {identity, value});
    return value;
  }

  async #stat(path: string): Promise<BigIntStats | undefined> {
    return await withFileErrors('reading', path, async () => {
      if (this.#isDirect()) return statSync(path, {bigint: true, throwIfNoEntry: false});
      return await ifPresent(async () => await stat(path, {bigint: true}));
    });
  }
}

/** Returns a text that changes when a file is replaced or changed. */
export function fileIdentity({dev, ino, size, mtimeNs, ctimeNs}: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(':');
}

async function readText(path: string): Promise<string | undefined> {
  return await withFileErrors('reading', path, async () => await ifPresent(() => readFile(path, 'utf8')));
}
