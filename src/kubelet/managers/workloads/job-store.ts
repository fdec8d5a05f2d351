import {stateDirectoriesTo, stateDirectory} from '../../../base/fs/state-directory.js';
import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {computeUuid} from '../../../api/container-hash.js';
import {SystemError} from '../../../base/errors.js';
import {removeAtomicFile, writeFileAtomic} from '../../../base/fs/atomic-write.js';
import {ifPresent, listNames, makeDirectories, withFileErrors} from '../../../base/fs/files.js';
import {isObject} from '../../../base/is-object.js';
import type {JobState} from './job-state.js';

/** States of Jobs, and the errors of unusable ones. */
export interface StoredJobs {
  readonly states: readonly JobState[];
  readonly errors: readonly SystemError[];
}

const VERSION = 1;
const SUFFIX = '.json';

/**
 * Store of the progress of Jobs, one file each: `<rootDir>/kcri/jobs/<hash of namespace and name>.json`. Only root can read
 * them, and writes are atomic. All methods reject with SystemError.
 */
export class JobStore {
  readonly #rootDir: string;
  readonly #directory: string;

  constructor(rootDir: string) {
    this.#rootDir = rootDir;
    this.#directory = join(stateDirectory(rootDir), 'jobs');
  }

  async put(state: JobState): Promise<void> {
    await makeDirectories(stateDirectoriesTo(this.#rootDir, this.#directory));
    await writeFileAtomic(this.#path(state), `${JSON.stringify({version: VERSION, ...state})}\n`, 0o600);
  }

  async delete(state: Pick<JobState, 'namespace' | 'name'>): Promise<void> {
    await removeAtomicFile(this.#path(state));
  }

  /** Resolves with the states of all Jobs. */
  async list(): Promise<StoredJobs> {
    const states: JobState[] = [];
    const errors: SystemError[] = [];
    const names = await listNames(this.#directory);
    for (const name of names.filter((one) => one.endsWith(SUFFIX) && !one.startsWith('.'))) {
      try {
        const state = await this.#read(join(this.#directory, name));
        if (state !== undefined) states.push(state);
      } catch (error) {
        if (!(error instanceof SystemError)) throw error;
        errors.push(error);
      }
    }
    return {states, errors};
  }

  async #read(path: string): Promise<JobState | undefined> {
    const text = await withFileErrors('reading', path, () => ifPresent(() => readFile(path, 'utf8')));
    if (text === undefined) return undefined;
    const value = parse(text);
    if (!isJobState(value) || this.#path(value) !== path)
      throw new SystemError(`invalid state of a Job in ${JSON.stringify(path)}`, {
        hint: 'delete the file to run the Job again, or restore it',
      });
    return value;
  }

  #path({namespace, name}: Pick<JobState, 'namespace' | 'name'>): string {
    return join(this.#directory, `${computeUuid(`${namespace}/${name}`)}${SUFFIX}`);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isString = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => typeof value === 'number';
const isPod = (value: unknown): boolean =>
  isObject(value) && isString(value['uid']) && isObject(value['place']) && isNumber(value['place']['index']);

const CHECKS: Readonly<Record<keyof JobState | 'version', (value: unknown) => boolean>> = {
  version: (value) => value === VERSION,
  namespace: isString,
  name: isString,
  key: isString,
  createdAtMs: isNumber,
  startedAtMs: (value) => value === undefined || isNumber(value),
  created: isNumber,
  active: (value) => Array.isArray(value) && value.every(isPod),
  ended: (value) =>
    Array.isArray(value) &&
    value.every((pod: unknown) => isObject(pod) && isPod(pod) && isObject(pod['status'])),
  result: (value) => value === undefined || (isObject(value) && isNumber(value['atMs'])),
};

function isJobState(value: unknown): value is JobState {
  return isObject(value) && Object.entries(CHECKS).every(([field, isRight]) => isRight(value[field]));
}
