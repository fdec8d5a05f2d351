import {readdir, readFile, unlink} from 'node:fs/promises';
import {join} from 'node:path';
import type {Pod} from '../../api/v1.js';
import {SystemError} from '../../base/errors.js';
import {
  ifPresent,
  isLeftoverOf,
  makeDirectories,
  pathSegment,
  withFileErrors,
  writeFileAtomic,
} from '../../base/files.js';
import {podUid, type PodUid} from '../../cri/index.js';
import type {PodPlace} from '../container/node.js';

/** What makes a pod kcri's own. Whatever the runtime runs without a record belongs to somebody else. */
export interface PodRecord {
  readonly uid: PodUid;
  readonly namespace: string;
  readonly name: string;
  /** The manifest's path as it was given, `-` for standard input. */
  readonly source: string;
  /** `kubelet` when a daemon keeps it, absent for a pod of `kcri sync`. */
  readonly manager?: 'kubelet';
  /** When the pod was first synced: RFC 3339. */
  readonly createdAt: string;
  /** The runtime that it was made on (see canonicalEndpoint): no other knows what runs of it. */
  readonly endpoint: string;
  /** Where its logs and cgroups are, whatever the flags say later. */
  readonly place: PodPlace;
  /** The pod as it was synced, with its defaults. */
  readonly pod: Pod;
  /**
   * Since when nothing of it is left but what the runtime keeps of a pod that has ended, for a while: RFC 3339. For
   * others than the daemon, which removes that, such a pod is gone.
   */
  readonly goneAt?: string;
}

/** A record that can't be used, and why. */
export interface BrokenRecord {
  readonly uid: PodUid;
  readonly error: SystemError;
}

/** All records of a root directory. */
export interface PodRecords {
  /** Oldest first. */
  readonly records: readonly PodRecord[];
  /** Those of pods that are gone. */
  readonly gone: readonly PodRecord[];
  readonly broken: readonly BrokenRecord[];
}

const VERSION = 1;
const SUFFIX = '.json';

/**
 * The records of kcri's pods, one file each: `<rootDir>/records/<uid>.json`. Pods may hold secrets in their
 * environment, so only root reads them. Writes are atomic; everything rejects with SystemError.
 */
export class PodStore {
  readonly #rootDir: string;
  readonly #directory: string;

  constructor(rootDir: string) {
    this.#rootDir = rootDir;
    this.#directory = join(rootDir, 'records');
  }

  /** Writes or replaces the pod's record; the root directory's parent must exist. */
  async put(record: PodRecord): Promise<void> {
    const path = this.#path(record.uid);
    await makeDirectories([
      {path: this.#rootDir, mode: 0o750},
      {path: this.#directory, mode: 0o700},
    ]);
    await writeFileAtomic(path, `${JSON.stringify({version: VERSION, ...record}, undefined, 2)}\n`, 0o600);
  }

  /** The pod's record, or undefined when the pod isn't kcri's. Rejects when there is one that can't be used. */
  async get(uid: PodUid): Promise<PodRecord | undefined> {
    const path = this.#path(uid);
    const text = await withFileErrors('reading', path, () => ifPresent(() => readFile(path, 'utf8')));
    return text === undefined ? undefined : parseRecord(text, uid, path);
  }

  /** All records; one that is broken doesn't hide the others. */
  async list(): Promise<PodRecords> {
    const records: PodRecord[] = [];
    const broken: BrokenRecord[] = [];
    for (const uid of await this.uids()) {
      try {
        const record = await this.get(uid);
        if (record !== undefined) records.push(record);
      } catch (error) {
        if (!(error instanceof SystemError)) throw error;
        broken.push({uid, error});
      }
    }
    const isGone = ({goneAt}: PodRecord): boolean => goneAt !== undefined;
    return {
      records: records.filter((record) => !isGone(record)).sort(byAge),
      gone: records.filter(isGone),
      broken,
    };
  }

  /** Forgets the pod, also when its record is broken; without one it does nothing. */
  async delete(uid: PodUid): Promise<void> {
    const path = this.#path(uid);
    const leftovers = (await this.#fileNames()).filter((name) => isLeftoverOf(path, name));
    for (const file of [...leftovers.map((name) => join(this.#directory, name)), path])
      await withFileErrors('removing', file, () => ifPresent(() => unlink(file)));
  }

  #path(uid: PodUid): string {
    return join(this.#directory, `${pathSegment('pod UID', uid)}${SUFFIX}`);
  }

  async #fileNames(): Promise<readonly string[]> {
    const directory = this.#directory;
    return (await withFileErrors('reading', directory, () => ifPresent(() => readdir(directory)))) ?? [];
  }

  /** Of all records, without reading them. */
  async uids(): Promise<readonly PodUid[]> {
    return (await this.#fileNames())
      .filter((name) => name.endsWith(SUFFIX) && !name.startsWith('.'))
      .map((name) => podUid(name.slice(0, -SUFFIX.length)));
  }
}

function byAge(a: PodRecord, b: PodRecord): number {
  return Date.parse(a.createdAt) - Date.parse(b.createdAt) || (a.uid < b.uid ? -1 : 1);
}

function parseRecord(text: string, uid: PodUid, path: string): PodRecord {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's words quote the text, which may hold secrets.
    throw brokenRecord(path, 'it is not JSON');
  }
  if (!isObject(value)) throw brokenRecord(path, 'it is not a JSON object');
  const {version, ...record} = value;
  if (version !== VERSION)
    throw brokenRecord(path, `it has version ${JSON.stringify(version)}, not ${VERSION}`);
  const wrong = wrongField(record, uid);
  if (wrong !== undefined) throw brokenRecord(path, `its ${wrong} is missing or wrong`);
  return record as unknown as PodRecord;
}

function brokenRecord(path: string, problem: string): SystemError {
  return new SystemError(`the pod record ${JSON.stringify(path)} can't be used: ${problem}`, {
    hint: 'delete the pod by its UID, or restore the file',
  });
}

/** The first field that isn't as put() writes it. */
function wrongField(record: Readonly<Record<string, unknown>>, uid: PodUid): string | undefined {
  return Object.entries(FIELD_CHECKS).find(([field, isRight]) => !isRight(record[field], uid))?.[0];
}

const isString = (value: unknown): boolean => typeof value === 'string';
const isTime = (value: unknown): boolean => typeof value === 'string' && !Number.isNaN(Date.parse(value));

const FIELD_CHECKS: Readonly<Record<keyof PodRecord, (value: unknown, uid: PodUid) => boolean>> = {
  uid: (value, uid) => value === uid,
  namespace: isString,
  name: isString,
  source: isString,
  manager: (value) => value === undefined || value === 'kubelet',
  createdAt: isTime,
  goneAt: (value) => value === undefined || isTime(value),
  endpoint: isString,
  place: (value) => isObject(value) && isString(value['podLogsDir']) && isObject(value['cgroup']),
  pod: (value, uid) =>
    isObject(value) &&
    isObject(value['metadata']) &&
    value['metadata']['uid'] === uid &&
    isObject(value['spec']) &&
    Array.isArray(value['spec']['containers']),
};

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
