import {stateDirectoriesTo, stateDirectory} from '../../../base/fs/state-directory.js';
import {constants} from 'node:fs';
import type {FileHandle} from 'node:fs/promises';
import {join} from 'node:path';
import {createFile, removeAtomicFile, writeFileAtomicWithoutSync} from '../../../base/fs/atomic-write.js';
import {hasErrno} from '../../../base/errors.js';
import {UNCACHED_FILES, type ParsedFiles} from '../../../base/fs/file-cache.js';
import {
  ifPresent,
  makeDirectories,
  validatePathSegment,
  withFile,
  withFileErrors,
} from '../../../base/fs/files.js';
import type {PodUid} from '../../../cri/index.js';

const VERSION = 1;
const MODE = 0o600;

type JsonObject = Readonly<Record<string, unknown>>;

/** Content of a pod's file. */
export interface PodFile<T> {
  readonly value: T;
  /** Items added since the value was written, oldest first; malformed ones are omitted. */
  readonly added: readonly JsonObject[];
}

/**
 * Stores one file per pod in a directory below the root directory, readable only by root: a line of JSON for the value
 * and one for each added item. This or a later version of kcri reads it back. Malformed content counts as absent,
 * since the files only record the past. All methods reject with SystemError.
 */
export class PodFileStore<T extends object> {
  readonly #rootDir: string;
  readonly #directory: string;
  readonly #isRight: (value: JsonObject) => boolean;
  readonly #files: ParsedFiles;

  constructor(
    rootDir: string,
    name: string,
    isRight: (value: JsonObject) => boolean,
    files = UNCACHED_FILES,
  ) {
    this.#files = files;
    this.#rootDir = rootDir;
    this.#directory = join(stateDirectory(rootDir), name);
    this.#isRight = isRight;
  }

  async read(uid: PodUid): Promise<PodFile<T> | undefined> {
    return await this.#files.read(this.#path(uid), (text) => this.#parsed(text));
  }

  /**
   * Returns `read` for many pods, which looks at their files only if one in the directory has changed. Only for stores that nothing
   * is added to.
   */
  async openReader(): Promise<(uid: PodUid) => Promise<PodFile<T> | undefined>> {
    const known = await this.#files.readDirectory(
      this.#directory,
      async () => await Promise.resolve(new Map<PodUid, PodFile<T> | undefined>()),
    );
    return async (uid) => {
      if (!known.has(uid)) known.set(uid, await this.read(uid));
      return known.get(uid);
    };
  }

  /** Writes or replaces the pod's file; the root directory's parent must exist. */
  async write(uid: PodUid, value: T): Promise<void> {
    const path = this.#path(uid);
    await withFileErrors('writing', path, () =>
      this.#inDirectory(async () => {
        // The file only records the past, so a faster start of pods is worth losing it in a power failure.
        await writeFileAtomicWithoutSync(path, lineOf({version: VERSION, ...value}), MODE);
        return true;
      }),
    );
  }

  /**
   * Writes the pod's file, with fewer calls than `write`; resolves with false if there is one. The root directory's parent must exist. A
   * process that is killed meanwhile may leave an empty file, which counts as absent.
   */
  async create(uid: PodUid, value: T): Promise<boolean> {
    const path = this.#path(uid);
    return await withFileErrors('writing', path, () =>
      this.#inDirectory(async () => {
        try {
          await createFile(path, lineOf({version: VERSION, ...value}), MODE);
          return true;
        } catch (error) {
          if (hasErrno(error, 'EEXIST')) return false;
          throw error;
        }
      }),
    );
  }

  /** Creates the directory if it is missing, which it nearly never is. */
  async #inDirectory(act: () => Promise<boolean>): Promise<boolean> {
    const done = await ifPresent(act);
    if (done !== undefined) return done;
    await makeDirectories(stateDirectoriesTo(this.#rootDir, this.#directory));
    return await act();
  }

  /**
   * Appends items to the pod's file, all or none; resolves with false without a file. Supports a single writer at a
   * time.
   */
  async add(uid: PodUid, items: readonly object[]): Promise<boolean> {
    const path = this.#path(uid);
    const bytes = Buffer.from(items.map(lineOf).join(''));
    const append = async (): Promise<true> => {
      await withFile(path, constants.O_WRONLY | constants.O_APPEND, 0, async (file) => {
        await appendWhole(file, bytes);
      });
      return true;
    };
    return (await withFileErrors('writing', path, () => ifPresent(append))) ?? false;
  }

  /** Removes the pod's file, if it exists, and the temporary files of killed processes. */
  async delete(uid: PodUid): Promise<void> {
    await removeAtomicFile(this.#path(uid));
  }

  #path(uid: PodUid): string {
    return join(this.#directory, `${validatePathSegment('pod UID', uid)}.json`);
  }

  #parsed(text: string): PodFile<T> | undefined {
    const [head = '', ...lines] = text.split('\n');
    const {version, ...content} = parsedObject(head) ?? {};
    if (version !== VERSION || !this.#isRight(content)) return undefined;
    const added = lines.map(parsedObject).filter((item) => item !== undefined);
    return {value: content as T, added};
  }
}

/** Returns the value as one line; JSON.stringify escapes line breaks. */
function lineOf(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

/** Appends all bytes; truncates a partial write, for example on a full disk, and rejects. */
async function appendWhole(file: FileHandle, bytes: Buffer): Promise<void> {
  let written = 0;
  try {
    while (written < bytes.length) written += (await file.write(bytes, written)).bytesWritten;
  } catch (error) {
    if (written > 0) await file.truncate((await file.stat()).size - written);
    throw error;
  }
}

function parsedObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as JsonObject) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
