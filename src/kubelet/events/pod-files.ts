import {constants} from 'node:fs';
import {readdir, readFile, unlink, type FileHandle} from 'node:fs/promises';
import {join} from 'node:path';
import {
  ifPresent,
  isLeftoverOf,
  makeDirectories,
  pathSegment,
  replaceFile,
  withFile,
  withFileErrors,
} from '../../base/files.js';
import type {PodUid} from '../../cri/index.js';

const VERSION = 1;

type JsonObject = Readonly<Record<string, unknown>>;

/** What a pod's file holds. */
export interface PodFile<T> {
  readonly value: T;
  /** What was added since that was written, oldest first; without what isn't as it was added. */
  readonly added: readonly JsonObject[];
}

/**
 * One file a pod in a directory below the root directory, for root's eyes only: a line of JSON, and a line for each
 * thing that was added to it. It is read back by the same kcri or a later one: what isn't as it was written counts as
 * not there, since it only tells of the past. Everything rejects with SystemError.
 */
export class PodFiles<T extends object> {
  readonly #rootDir: string;
  readonly #directory: string;
  readonly #isRight: (value: JsonObject) => boolean;

  constructor(rootDir: string, name: string, isRight: (value: JsonObject) => boolean) {
    this.#rootDir = rootDir;
    this.#directory = join(rootDir, name);
    this.#isRight = isRight;
  }

  async read(uid: PodUid): Promise<PodFile<T> | undefined> {
    const path = this.#path(uid);
    const text = await withFileErrors('reading', path, () => ifPresent(() => readFile(path, 'utf8')));
    return text === undefined ? undefined : this.#parsed(text);
  }

  /** Writes or replaces the pod's file; the root directory's parent must exist. */
  async write(uid: PodUid, value: T): Promise<void> {
    const path = this.#path(uid);
    const replace = async (): Promise<true> => {
      // What a power failure takes of it is the past, and a pod should not start later for it.
      await replaceFile(path, lineOf({version: VERSION, ...value}), 0o600);
      return true;
    };
    await withFileErrors('writing', path, async () => {
      // Nearly always the directories are there.
      if ((await ifPresent(replace)) === true) return;
      await makeDirectories([
        {path: this.#rootDir, mode: 0o750},
        {path: this.#directory, mode: 0o700},
      ]);
      await replace();
    });
  }

  /** Adds to the pod's file, all or nothing; false when there is none. For one writer at a time. */
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

  /** Removes the pod's file; without one it does nothing. */
  async delete(uid: PodUid): Promise<void> {
    const path = this.#path(uid);
    const directory = this.#directory;
    const names = await withFileErrors('reading', directory, () => ifPresent(() => readdir(directory)));
    const leftovers = (names ?? []).filter((name) => isLeftoverOf(path, name));
    for (const file of [...leftovers.map((name) => join(directory, name)), path])
      await withFileErrors('removing', file, () => ifPresent(() => unlink(file)));
  }

  #path(uid: PodUid): string {
    return join(this.#directory, `${pathSegment('pod UID', uid)}.json`);
  }

  #parsed(text: string): PodFile<T> | undefined {
    const [head = '', ...lines] = text.split('\n');
    const {version, ...content} = parsedObject(head) ?? {};
    if (version !== VERSION || !this.#isRight(content)) return undefined;
    const added = lines.map(parsedObject).filter((item) => item !== undefined);
    return {value: content as T, added};
  }
}

/** JSON has no line ends of its own. */
function lineOf(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

/** What a full disk has taken a part of is cut off again. */
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
