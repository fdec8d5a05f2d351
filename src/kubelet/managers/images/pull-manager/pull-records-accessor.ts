import {stateDirectoriesTo, stateDirectory} from '../../../../base/fs/state-directory.js';
import {createHash, randomUUID} from 'node:crypto';
import {stat, unlink} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {SystemError} from '../../../../base/errors.js';
import {writeFileAtomic} from '../../../../base/fs/atomic-write.js';
import {UNCACHED_FILES} from '../../../../base/fs/file-cache.js';
import {ifPresent, makeDirectories, withFileErrors, listNames} from '../../../../base/fs/files.js';
import {acquireLock, isLockHeld} from '../../../../base/fs/lock.js';
import {removeTree} from '../../../../base/fs/remove-tree.js';
import {parseJsonObject} from '../../../../base/parse-json-object.js';
import type {ImagePulledRecord} from './image-pulled-record.js';

/** Storage of pull intents and records. `kcri plan` has its own implementation. Methods reject with SystemError. */
export interface PullRecordsAccessor {
  /**
   * Records the intent to pull an image, named as in the pod spec. Resolves with the running pull; dispose of it when
   * the pull has finished. It also ends with the process. Rejects with the signal's reason too, as deleteIntent does.
   */
  writeIntent(image: string, signal?: AbortSignal): Promise<AsyncDisposable>;
  hasIntent(image: string): Promise<boolean>;
  /** Deletes an intent, unless any process is pulling the image. Resolves if there is none. */
  deleteIntent(image: string, signal?: AbortSignal): Promise<void>;
  /**
   * Calls `recover` with the images of intents that no pull holds, if any, and removes the intents of those that it
   * resolves with, unless a pull of the image has started meanwhile: `recover` may take long and holds up no pull.
   */
  recoverIntents(recover: (images: readonly string[]) => Promise<readonly string[]>): Promise<void>;
  /** Returns the record of an image, undefined without one. Rejects if it is invalid. */
  readPulled(imageRef: string): Promise<ImagePulledRecord | undefined>;
  /**
   * Replaces a record by the result of `change`, unless that is undefined, while holding a lock. An invalid record
   * counts as missing.
   */
  updatePulled(
    imageRef: string,
    change: (record: ImagePulledRecord | undefined) => ImagePulledRecord | undefined,
  ): Promise<void>;
}

const API_VERSION = 'kubelet.config.k8s.io/v1beta1';
const READABLE_VERSIONS: ReadonlySet<unknown> = new Set([API_VERSION, 'kubelet.config.k8s.io/v1alpha1']);
const FILE_NAME = /^sha256-[0-9a-f]{64}$/;

/**
 * Stores records in the kubelet's format: `<root-dir>/image_manager/{pulling,pulled}/sha256-<hash of the name>`
 * (pullmanager/fs_pullrecords.go). Since several kcri processes may pull, each running pull holds a lock
 * `kcri/image_manager/pullers/sha256-<hash>.<UUID>`. Since several runtimes may use the root directory,
 * `kcri/image_manager/runtimes` lists those that have pulled images.
 */
export class FilePullRecordsAccessor implements PullRecordsAccessor {
  readonly #rootDir: string;
  readonly #pulling: string;
  readonly #pulled: string;
  readonly #pullers: string;
  readonly #runtimes: string;
  readonly #endpoint: string | undefined;

  /** `endpoint` is that of the runtime that pulls (see canonicalEndpoint); undefined for readers. */
  constructor(rootDir: string, endpoint?: string) {
    this.#rootDir = rootDir;
    this.#endpoint = endpoint;
    this.#pulling = join(rootDir, 'image_manager', 'pulling');
    this.#pulled = join(rootDir, 'image_manager', 'pulled');
    this.#pullers = join(stateDirectory(rootDir), 'image_manager', 'pullers');
    this.#runtimes = join(stateDirectory(rootDir), 'image_manager', 'runtimes');
  }

  async writeIntent(image: string, signal?: AbortSignal): Promise<AsyncDisposable> {
    return await this.#withLock(signal, async () => {
      const pull = await acquireLock(join(this.#pullers, `${fileName(image)}.${randomUUID()}`));
      try {
        await this.#recordRuntime();
        await this.#write(this.#pulling, image, {kind: 'ImagePullIntent', apiVersion: API_VERSION, image});
      } catch (error) {
        await pull[Symbol.asyncDispose]();
        throw error;
      }
      return pull;
    });
  }

  async #recordRuntime(): Promise<void> {
    const endpoint = this.#endpoint;
    if (endpoint === undefined) return;
    if (!(await listNames(this.#runtimes)).includes(fileName(endpoint)))
      await this.#write(this.#runtimes, endpoint, {kind: 'PullingRuntime', endpoint});
  }

  /**
   * Removes all records after the runtime and its images were removed for good, if no other runtime has pulled images.
   * Otherwise all records stay, because they may restrict access to images of other runtimes.
   */
  async forgetRuntime(): Promise<void> {
    const endpoint = this.#endpoint;
    if (endpoint === undefined || !(await listNames(this.#runtimes)).includes(fileName(endpoint))) return;
    await this.#withLock(undefined, async () => {
      const pullers = (await listNames(this.#pullers)).map((name) => join(this.#pullers, name));
      for (const path of pullers) if (await isLockHeld(path)) return;
      const file = join(this.#runtimes, fileName(endpoint));
      await withFileErrors('removing', file, () => ifPresent(() => unlink(file)));
      if ((await listNames(this.#runtimes)).length > 0) return;
      for (const directory of [this.#pulling, this.#pulled, this.#pullers, this.#runtimes])
        await removeTree(directory);
    });
  }

  async hasIntent(image: string): Promise<boolean> {
    const found = await readObject(join(this.#pulling, fileName(image)), 'ImagePullIntent');
    return found?.['image'] === image;
  }

  async deleteIntent(image: string, signal?: AbortSignal): Promise<void> {
    await this.#withLock(signal, async () => {
      if (!(await this.#isPulling(image))) await this.#removeIntent(image);
    });
  }

  async recoverIntents(...[recover]: Parameters<PullRecordsAccessor['recoverIntents']>): Promise<void> {
    const found = await this.#abandonedIntents();
    if (found.size === 0) return;
    const recovered = await recover([...found.keys()]);
    await this.#withLock(undefined, async () => {
      const left = await this.#abandonedIntents();
      for (const image of recovered)
        if (left.get(image) === found.get(image)) await this.#removeIntent(image);
    });
  }

  /** Returns the images of intents that no living process holds. */
  async listAbandonedIntents(): Promise<readonly string[]> {
    return [...(await this.#abandonedIntents()).keys()];
  }

  /** Returns the versions of the intents that no living process holds, by image. Each pull writes a new version. */
  async #abandonedIntents(): Promise<ReadonlyMap<string, string>> {
    const abandoned = new Map<string, string>();
    for (const image of await this.listIntents()) {
      const path = join(this.#pulling, fileName(image));
      const file = await withFileErrors('reading', path, () => ifPresent(() => stat(path, {bigint: true})));
      if (file === undefined || (await this.#isPulling(image))) continue;
      abandoned.set(image, `${file.ino}:${file.mtimeNs}`);
    }
    return abandoned;
  }

  /** Returns the images of all intents. */
  async listIntents(): Promise<readonly string[]> {
    const files = (await listNames(this.#pulling)).filter((name) => FILE_NAME.test(name));
    const objects = await Promise.all(
      // An intent that is invalid or was removed meanwhile must not hide the others.
      files.map((name) => readObject(join(this.#pulling, name), 'ImagePullIntent').catch(() => undefined)),
    );
    return objects.map((object) => object?.['image']).filter((image) => typeof image === 'string');
  }

  async readPulled(imageRef: string): Promise<ImagePulledRecord | undefined> {
    const object = await readObject(join(this.#pulled, fileName(imageRef)), 'ImagePulledRecord');
    if (object?.['imageRef'] !== imageRef) return undefined;
    // The kubelet omits an empty mapping.
    const {lastUpdatedTime = '', credentialMapping = {}} = object as Partial<ImagePulledRecord>;
    return {lastUpdatedTime, imageRef, credentialMapping};
  }

  /**
   * Returns the references of all pulled images. Undefined if other runtimes have pulled images: a recorded image may
   * then belong to another client on this runtime.
   */
  async pulledRefs(): Promise<ReadonlySet<string> | undefined> {
    const endpoint = this.#endpoint;
    if (endpoint === undefined) return undefined;
    const runtimes = await listNames(this.#runtimes);
    if (runtimes.some((name) => name !== fileName(endpoint))) return undefined;
    if (runtimes.length === 0) return new Set();
    return new Set((await this.#listPulled()).map(({imageRef}) => imageRef));
  }

  /**
   * Removes records older than `before` (ms since the epoch) of images that are no longer known (PruneUnknownRecords).
   */
  async pruneUnknownRecords(isKnown: (imageRef: string) => boolean, before: number): Promise<void> {
    if ((await this.pulledRefs()) === undefined) return;
    for (const {imageRef} of (await this.#listPulled()).filter((record) => !isKnown(record.imageRef)))
      await this.#withPulledLock(async () => {
        const record = await this.readPulled(imageRef).catch(() => undefined);
        if (record === undefined || !(Date.parse(record.lastUpdatedTime) < before)) return;
        const path = join(this.#pulled, fileName(imageRef));
        await withFileErrors('removing', path, () => ifPresent(() => unlink(path)));
      });
  }

  async #listPulled(): Promise<readonly {readonly imageRef: string}[]> {
    const files = (await listNames(this.#pulled)).filter((name) => FILE_NAME.test(name));
    const objects = await Promise.all(
      files.map((name) => readObject(join(this.#pulled, name), 'ImagePulledRecord').catch(() => undefined)),
    );
    return objects.flatMap((object) => {
      const imageRef = object?.['imageRef'];
      return typeof imageRef === 'string' ? [{imageRef}] : [];
    });
  }

  async updatePulled(...[imageRef, change]: Parameters<PullRecordsAccessor['updatePulled']>): Promise<void> {
    await this.#withPulledLock(async () => {
      const changed = change(await this.readPulled(imageRef).catch(() => undefined));
      if (changed !== undefined) await this.#writePulled(changed);
    });
  }

  /** Calls `act` while no other process changes a pulled record. */
  async #withPulledLock(act: () => Promise<void>): Promise<void> {
    // Cannot conflict with the lock of a pod: namespaces and UIDs do not start with an underscore.
    const lock = await acquireLock(join(stateDirectory(this.#rootDir), 'locks', '__pulled-images.lock'));
    try {
      await act();
    } finally {
      await lock[Symbol.asyncDispose]();
    }
  }

  /** Reports whether any process is pulling the image. */
  async #isPulling(image: string): Promise<boolean> {
    for (const path of await this.#pullersOf(image)) if (await isLockHeld(path)) return true;
    return false;
  }

  async #pullersOf(image: string): Promise<readonly string[]> {
    const prefix = `${fileName(image)}.`;
    return (await listNames(this.#pullers))
      .filter((name) => name.startsWith(prefix))
      .map((name) => join(this.#pullers, name));
  }

  /** Removes an intent and the locks that killed processes left. Names of locks are unique, so that none is reused. */
  async #removeIntent(image: string): Promise<void> {
    for (const path of [join(this.#pulling, fileName(image)), ...(await this.#pullersOf(image))])
      await withFileErrors('removing', path, () => ifPresent(() => unlink(path)));
  }

  /** Calls `act` while no other process starts a pull or removes an intent. */
  async #withLock<T>(signal: AbortSignal | undefined, act: () => Promise<T>): Promise<T> {
    const manager = dirname(this.#pullers);
    const directories = [...stateDirectoriesTo(this.#rootDir, manager), {path: this.#pullers, mode: 0o700}];
    await makeDirectories(directories);
    const lock = await acquireLock(join(manager, 'pullers.lock'), {signal});
    try {
      return await act();
    } finally {
      await lock[Symbol.asyncDispose]();
    }
  }

  async #writePulled({lastUpdatedTime, imageRef, credentialMapping}: ImagePulledRecord): Promise<void> {
    const mapping = Object.keys(credentialMapping).length === 0 ? {} : {credentialMapping};
    await this.#write(this.#pulled, imageRef, {
      kind: 'ImagePulledRecord',
      apiVersion: API_VERSION,
      lastUpdatedTime,
      imageRef,
      ...mapping,
    });
  }

  async #write(directory: string, name: string, object: object): Promise<void> {
    await makeDirectories([dirname(directory), directory].map((path) => ({path, mode: 0o700})));
    await writeFileAtomic(join(directory, fileName(name)), `${JSON.stringify(object)}\n`, 0o600);
  }
}

/** Returns a hash of an image name as file name, because image names contain slashes. */
function fileName(name: string): string {
  return `sha256-${createHash('sha256').update(name).digest('hex')}`;
}

/**
 * Returns the object in a file, undefined without the file. Rejects with SystemError if it is of another kind or
 * version.
 */
async function readObject(
  path: string,
  kind: string,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const object = await UNCACHED_FILES.read(path, parseJsonObject);
  if (object === undefined) return undefined;
  if (object['kind'] === kind && READABLE_VERSIONS.has(object['apiVersion'])) return object;
  throw new SystemError(`${JSON.stringify(path)} is not a valid ${kind} of ${API_VERSION}`);
}
