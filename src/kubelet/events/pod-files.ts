import {randomBytes} from 'node:crypto';
import {readdir, readFile, rename, unlink, writeFile} from 'node:fs/promises';
import {basename, dirname, join} from 'node:path';
import {ifPresent, isLeftoverOf, makeDirectories, pathSegment, withFileErrors} from '../../base/files.js';
import type {PodUid} from '../../cri/index.js';

const VERSION = 1;

/**
 * One JSON file a pod in a directory below the root directory, for root's eyes only. It is read back by the same kcri
 * or a later one: what isn't as it was written counts as not there, since it only tells of the past. Everything
 * rejects with SystemError.
 */
export class PodFiles<T extends object> {
  readonly #rootDir: string;
  readonly #directory: string;
  readonly #isRight: (value: Readonly<Record<string, unknown>>) => boolean;

  constructor(rootDir: string, name: string, isRight: (value: Readonly<Record<string, unknown>>) => boolean) {
    this.#rootDir = rootDir;
    this.#directory = join(rootDir, name);
    this.#isRight = isRight;
  }

  async read(uid: PodUid): Promise<T | undefined> {
    const path = this.#path(uid);
    const text = await withFileErrors('reading', path, () => ifPresent(() => readFile(path, 'utf8')));
    return text === undefined ? undefined : this.#parsed(text);
  }

  /** Writes or replaces the pod's file; the root directory's parent must exist. */
  async write(uid: PodUid, value: T): Promise<void> {
    const path = this.#path(uid);
    await makeDirectories([
      {path: this.#rootDir, mode: 0o750},
      {path: this.#directory, mode: 0o700},
    ]);
    await withFileErrors('writing', path, () =>
      replaceFile(path, JSON.stringify({version: VERSION, ...value})),
    );
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

  #parsed(text: string): T | undefined {
    const value = parsedObject(text);
    if (value === undefined) return undefined;
    const {version, ...content} = value;
    return version === VERSION && this.#isRight(content) ? (content as T) : undefined;
  }
}

/**
 * Readers see the old content or the new one. Nothing waits for the disk: what a power failure takes of it is the past,
 * and a pod should not start later for it.
 */
async function replaceFile(path: string, content: string): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    await writeFile(temporary, `${content}\n`, {mode: 0o600, flag: 'wx'});
    await rename(temporary, path);
  } catch (error) {
    await ifPresent(() => unlink(temporary));
    throw error;
  }
}

function parsedObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
