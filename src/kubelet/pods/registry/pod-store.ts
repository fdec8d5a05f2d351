import {stateDirectoriesTo, stateDirectory} from '../../../base/fs/state-directory.js';
import {join} from 'node:path';
import type {Pod} from '../../../api/types/v1-pod.js';
import {SystemError} from '../../../base/errors.js';
import {coalesce} from '../../../base/async/coalesce.js';
import {forEachLimit} from '../../../base/async/for-each-limit.js';
import {removeAtomicFile, syncDirectory, writeFileAtomicWithFileSync} from '../../../base/fs/atomic-write.js';
import {
  ifPresent,
  makeDirectories,
  validatePathSegment,
  withFileErrors,
  listNames,
} from '../../../base/fs/files.js';
import {UNCACHED_FILES, type ParsedFiles} from '../../../base/fs/file-cache.js';
import {isObject} from '../../../base/is-object.js';
import {podUid, type PodUid} from '../../../cri/index.js';
import type {PodLocation} from '../../contract/node-facts.js';

/** Record of a pod owned by kcri. A pod in the runtime without a record belongs to another program. */
export interface PodRecord {
  readonly uid: PodUid;
  readonly namespace: string;
  readonly name: string;
  /** Path of the manifest, absolute for a pod of `kcri sync`, its URL, or `-` for standard input. */
  readonly source: string;
  /** `kubelet` for a pod that a daemon manages; undefined for a pod of `kcri sync`. */
  readonly manager?: 'kubelet';
  /** Time of the first sync, in RFC 3339. */
  readonly createdAt: string;
  /**
   * Canonical endpoint of the runtime that the pod was created on (see canonicalEndpoint). Other runtimes do not know
   * its containers.
   */
  readonly endpoint: string;
  /** Location of the logs, cgroups and drivers, regardless of later flags. */
  readonly place: PodLocation;
  /** Pod as synced, with its defaults. */
  readonly pod: Pod;
  /** Time at which a daemon took over the pod from another kubelet, in RFC 3339. */
  readonly takenOverAt?: string;
  /**
   * Time of the removal from the node, in RFC 3339. Dead containers may remain in the runtime until the daemon removes
   * them. Other processes treat such a pod as deleted.
   */
  readonly removedAt?: string;
}

/** An unusable record and its error. */
export interface BrokenRecord {
  readonly uid: PodUid;
  readonly error: SystemError;
}

/** All records of a root directory. */
export interface PodRecords {
  /** Records of existing pods, oldest first. */
  readonly records: readonly PodRecord[];
  /** Records of removed pods. */
  readonly removed: readonly PodRecord[];
  readonly broken: readonly BrokenRecord[];
}

const VERSION = 1;
const MODE = 0o600;
/** Records written at once. */
const WRITES_AT_ONCE = 8;
const SUFFIX = '.json';

/**
 * Store of the records of kcri's pods, one file each: `<rootDir>/kcri/records/<uid>.json`. Only root can read them, since
 * pods may have secrets in their environment. Writes are atomic. All methods reject with SystemError.
 */
export class PodStore {
  readonly #rootDir: string;
  readonly #directory: string;
  readonly #files: ParsedFiles;
  /** Syncs the directory: records that are written at the same time share a sync. */
  readonly #sync: () => Promise<void>;

  /** Creates the store of a root directory; `name` is the directory of the files, and `files` reads them. */
  constructor(rootDir: string, name = 'records', files = UNCACHED_FILES) {
    this.#files = files;
    this.#rootDir = rootDir;
    this.#directory = join(stateDirectory(rootDir), name);
    this.#sync = coalesce(async () => {
      await syncDirectory(this.#directory);
    });
  }

  /** Writes or replaces the pod's record; the root directory's parent must exist. */
  async put(record: PodRecord): Promise<void> {
    const path = this.#path(record.uid);
    const text = formatRecord(record);
    const replace = async (): Promise<true> => {
      await writeFileAtomicWithFileSync(path, text, MODE);
      return true;
    };
    await withFileErrors('writing', path, async () => {
      // The directories nearly always exist.
      if ((await ifPresent(replace)) !== true) {
        await makeDirectories(stateDirectoriesTo(this.#rootDir, this.#directory));
        await replace();
      }
      await this.#sync();
    });
  }

  /** Writes or replaces many records, as durably as `put`, but with one sync of their directory. */
  async putAll(records: readonly PodRecord[]): Promise<void> {
    if (records.length === 0) return;
    await makeDirectories(stateDirectoriesTo(this.#rootDir, this.#directory));
    await forEachLimit(records, WRITES_AT_ONCE, async (record) => {
      const path = this.#path(record.uid);
      await withFileErrors('writing', path, () =>
        writeFileAtomicWithFileSync(path, formatRecord(record), MODE),
      );
    });
    await withFileErrors('syncing', this.#directory, () => this.#sync());
  }

  /** Resolves with the pod's record, or undefined if kcri does not own the pod. Rejects if the record is unusable. */
  async get(uid: PodUid): Promise<PodRecord | undefined> {
    const path = this.#path(uid);
    return await this.#files.read(path, (text) => parseRecord(text, uid, path));
  }

  /** Resolves with all records, usable or broken. */
  async list(): Promise<PodRecords> {
    return await this.#files.readDirectory(this.#directory, async () => await this.#list());
  }

  async #list(): Promise<PodRecords> {
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
    const isRemoved = ({removedAt}: PodRecord): boolean => removedAt !== undefined;
    return {
      records: records.filter((record) => !isRemoved(record)).sort(byAge),
      removed: records.filter(isRemoved),
      broken,
    };
  }

  /** Deletes the pod's record, even a broken one, and the temporary files of killed processes. */
  async delete(uid: PodUid): Promise<void> {
    await removeAtomicFile(this.#path(uid));
  }

  #path(uid: PodUid): string {
    return join(this.#directory, `${validatePathSegment('pod UID', uid)}${SUFFIX}`);
  }

  /** Resolves with the UIDs of all records without reading them. */
  async uids(): Promise<readonly PodUid[]> {
    return (await listNames(this.#directory))
      .filter((name) => name.endsWith(SUFFIX) && !name.startsWith('.'))
      .map((name) => podUid(name.slice(0, -SUFFIX.length)));
  }
}

function byAge(a: PodRecord, b: PodRecord): number {
  return Date.parse(a.createdAt) - Date.parse(b.createdAt) || (a.uid < b.uid ? -1 : 1);
}

function formatRecord(record: PodRecord): string {
  return `${JSON.stringify({version: VERSION, ...record}, undefined, 2)}\n`;
}

function parseRecord(text: string, uid: PodUid, path: string): PodRecord {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's message quotes the text, which may contain secrets.
    throw brokenRecord(path, 'must be JSON');
  }
  if (!isObject(value)) throw brokenRecord(path, 'must be a JSON object');
  const {version, ...record} = value;
  if (version !== VERSION)
    throw brokenRecord(path, `must have version ${VERSION}, not ${JSON.stringify(version)}`);
  const wrong = wrongField(record, uid);
  if (wrong !== undefined) throw brokenRecord(path, `missing or invalid field "${wrong}"`);
  return record as unknown as PodRecord;
}

function brokenRecord(path: string, problem: string): SystemError {
  return new SystemError(`invalid pod record ${JSON.stringify(path)}: ${problem}`, {
    hint: 'delete the pod by its UID, or restore the file',
  });
}

/** Returns the name of the first field that put() would not have written. */
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
  takenOverAt: (value) => value === undefined || isTime(value),
  removedAt: (value) => value === undefined || isTime(value),
  endpoint: isString,
  place: (value) =>
    isObject(value) &&
    isString(value['podLogsDir']) &&
    ['containerLogsDir', 'volumePluginDir'].every(
      (name) => value[name] === undefined || isString(value[name]),
    ) &&
    isObject(value['cgroup']),
  pod: (value, uid) =>
    isObject(value) &&
    isObject(value['metadata']) &&
    value['metadata']['uid'] === uid &&
    isObject(value['spec']) &&
    Array.isArray(value['spec']['containers']),
};
