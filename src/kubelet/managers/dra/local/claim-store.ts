import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {KeyedLock} from '../../../../base/async/keyed-lock.js';
import {SystemError} from '../../../../base/errors.js';
import {removeAtomicFile, writeFileAtomic} from '../../../../base/fs/atomic-write.js';
import {ifPresent, listNames, makeDirectories, withFileErrors} from '../../../../base/fs/files.js';
import {acquireLock} from '../../../../base/fs/lock.js';
import {stateDirectoriesTo, stateDirectory} from '../../../../base/fs/state-directory.js';
import {parseAllocatedClaim, type AllocatedClaim} from './allocated-claim.js';

/** Where claims are stored. Methods reject with SystemError. */
export interface ClaimStorage {
  list(): Promise<readonly AllocatedClaim[]>;
  get(uid: string): Promise<AllocatedClaim | undefined>;
  put(claim: AllocatedClaim): Promise<void>;
  delete(claim: AllocatedClaim): Promise<void>;
  /** Runs work while nobody else does any of this name. Rejects also with the errors of the work, and with the signal's reason. */
  locked<T>(name: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

const SUFFIX = '.json';

/**
 * Store of allocated claims, one file each: `<rootDir>/kcri/resource-claims/<uid>.json`. Only root can read them, and writes are
 * atomic and durable: a device that is forgotten would be given to another pod too.
 */
export class ClaimStore implements ClaimStorage {
  readonly #rootDir: string;
  readonly directory: string;
  /** Orders the work of this process, which would have to poll the locks otherwise. */
  readonly #turns = new KeyedLock();

  constructor(rootDir: string) {
    this.#rootDir = rootDir;
    this.directory = join(stateDirectory(rootDir), 'resource-claims');
  }

  async put(claim: AllocatedClaim): Promise<void> {
    await this.#makeDirectory();
    await writeFileAtomic(this.#path(claim), `${JSON.stringify(claim)}\n`, 0o600);
  }

  async delete(claim: AllocatedClaim): Promise<void> {
    await removeAtomicFile(this.#path(claim));
  }

  async get(uid: string): Promise<AllocatedClaim | undefined> {
    return await this.#read(join(this.directory, `${uid}${SUFFIX}`));
  }

  /** Returns the claims, sorted by file name. Rejects if a file is damaged: its devices would be given away again. */
  async list(): Promise<readonly AllocatedClaim[]> {
    const {claims, problem} = await this.readable();
    if (problem !== undefined) throw problem;
    return claims;
  }

  /** Returns the claims that can be read, sorted by file name, and the error of the first other one. */
  async readable(): Promise<{
    readonly claims: readonly AllocatedClaim[];
    readonly problem: SystemError | undefined;
  }> {
    const names = (await listNames(this.directory)).filter(
      (name) => name.endsWith(SUFFIX) && !name.startsWith('.'),
    );
    const found = await Promise.all(
      names.toSorted().map(async (name) => this.#read(join(this.directory, name)).catch(asSystemError)),
    );
    const problem = found.find((one) => one instanceof SystemError);
    return {claims: found.flatMap((one) => (one instanceof SystemError ? [] : (one ?? []))), problem};
  }

  async locked<T>(name: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const run = async (): Promise<T> => {
      await this.#makeDirectory();
      await using _lock = await acquireLock(join(this.directory, `${name}.lock`), {signal});
      return await work();
    };
    return await this.#turns.run([name], run, signal);
  }

  async #makeDirectory(): Promise<void> {
    await makeDirectories(stateDirectoriesTo(this.#rootDir, this.directory));
  }

  async #read(path: string): Promise<AllocatedClaim | undefined> {
    const text = await withFileErrors('reading', path, () => ifPresent(() => readFile(path, 'utf8')));
    if (text === undefined) return undefined;
    const value = parseAllocatedClaim(text);
    if (value === undefined || this.#path(value) !== path)
      throw new SystemError(`invalid state of a resource claim in ${JSON.stringify(path)}`, {
        hint: 'restore the file; or delete the pods that use the claim, move the file away when their containers have stopped, and delete them again',
      });
    return value;
  }

  #path({claim}: AllocatedClaim): string {
    return join(this.directory, `${claim.metadata.uid}${SUFFIX}`);
  }
}

/** Returns a SystemError; throws other errors. */
function asSystemError(error: unknown): SystemError {
  if (error instanceof SystemError) return error;
  throw error;
}
