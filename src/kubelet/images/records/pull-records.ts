import {createHash, randomUUID} from 'node:crypto';
import {readdir, readFile, unlink} from 'node:fs/promises';
import {join} from 'node:path';
import {SystemError} from '../../../base/errors.js';
import {ifPresent, makeDirectories, withFileErrors, writeFileAtomic} from '../../../base/files.js';
import {acquireLock, isLockHeld} from '../../../base/lock.js';
import {removeTree} from '../../../base/remove-tree.js';
import type {PulledRecord} from './pulled-record.js';

/** Where it is kept which images were pulled and with what. `kcri plan` has its own implementation. Methods reject with SystemError. */
export interface PullRecords {
  /**
   * Notes that an image, named as the Pod names it, is about to be pulled. What it resolves to is this one pull, which
   * is under way until it is disposed of or the process ends.
   */
  writeIntent(image: string): Promise<AsyncDisposable>;
  hasIntent(image: string): Promise<boolean>;
  /** Leaves it while a pull of the image is under way in any process. One that isn't there is fine. */
  deleteIntent(image: string): Promise<void>;
  /**
   * Calls `settle` with the images of the intents that no living process has, when there are any, and then removes those
   * that it resolves to. No pull begins meanwhile.
   */
  settleIntents(settle: (images: readonly string[]) => Promise<readonly string[]>): Promise<void>;
  /** Undefined when there is none; rejects when it can't be read. */
  readPulled(imageRef: string): Promise<PulledRecord | undefined>;
  /**
   * Replaces a record by what `change` makes of it, undefined for leaving it; nobody else changes it meanwhile. A record
   * that can't be read counts as none.
   */
  updatePulled(
    imageRef: string,
    change: (record: PulledRecord | undefined) => PulledRecord | undefined,
  ): Promise<void>;
}

const API_VERSION = 'kubelet.config.k8s.io/v1beta1';
const READABLE_VERSIONS: ReadonlySet<unknown> = new Set([API_VERSION, 'kubelet.config.k8s.io/v1alpha1']);
const FILE_NAME = /^sha256-[0-9a-f]{64}$/;

/**
 * The kubelet's files: `<root-dir>/image_manager/{pulling,pulled}/sha256-<hash of the name>` (pullmanager/fs_pullrecords.go).
 * Unlike a kubelet, kcri isn't alone: each pull under way holds a lock `image_manager/pullers/sha256-<hash>.<UUID>`. And
 * its root directory may serve several runtimes: `image_manager/runtimes` names those that have pulled.
 */
export class FilePullRecords implements PullRecords {
  readonly #rootDir: string;
  readonly #pulling: string;
  readonly #pulled: string;
  readonly #pullers: string;
  readonly #runtimes: string;
  readonly #endpoint: string | undefined;

  /** `endpoint`: of the runtime that pulls (see canonicalEndpoint); for who only reads, none. */
  constructor(rootDir: string, endpoint?: string) {
    this.#rootDir = rootDir;
    this.#endpoint = endpoint;
    this.#pulling = join(rootDir, 'image_manager', 'pulling');
    this.#pulled = join(rootDir, 'image_manager', 'pulled');
    this.#pullers = join(rootDir, 'image_manager', 'pullers');
    this.#runtimes = join(rootDir, 'image_manager', 'runtimes');
  }

  async writeIntent(image: string): Promise<AsyncDisposable> {
    return await this.#alone(async () => {
      const pull = await acquireLock(join(this.#pullers, `${fileName(image)}.${randomUUID()}`));
      try {
        await this.#noteRuntime();
        await this.#write(this.#pulling, image, {kind: 'ImagePullIntent', apiVersion: API_VERSION, image});
      } catch (error) {
        await pull[Symbol.asyncDispose]();
        throw error;
      }
      return pull;
    });
  }

  async #noteRuntime(): Promise<void> {
    const endpoint = this.#endpoint;
    if (endpoint === undefined) return;
    if (!(await namesIn(this.#runtimes)).includes(fileName(endpoint)))
      await this.#write(this.#runtimes, endpoint, {kind: 'PullingRuntime', endpoint});
  }

  /**
   * For when the runtime is gone for good, and its images with it: when no other one has pulled, what is recorded says
   * nothing any more, and goes. Otherwise all of it stays, since images of the others may be among it that not every
   * pod is allowed.
   */
  async forgetRuntime(): Promise<void> {
    const endpoint = this.#endpoint;
    if (endpoint === undefined || !(await namesIn(this.#runtimes)).includes(fileName(endpoint))) return;
    await this.#alone(async () => {
      const pullers = (await namesIn(this.#pullers)).map((name) => join(this.#pullers, name));
      for (const path of pullers) if (await isLockHeld(path)) return;
      const note = join(this.#runtimes, fileName(endpoint));
      await withFileErrors('removing', note, () => ifPresent(() => unlink(note)));
      if ((await namesIn(this.#runtimes)).length > 0) return;
      for (const directory of [this.#pulling, this.#pulled, this.#pullers, this.#runtimes])
        await removeTree(directory);
    });
  }

  async hasIntent(image: string): Promise<boolean> {
    const found = await readObject(join(this.#pulling, fileName(image)), 'ImagePullIntent');
    return found?.['image'] === image;
  }

  async deleteIntent(image: string): Promise<void> {
    await this.#alone(async () => {
      if (!(await this.#isPulling(image))) await this.#removeIntent(image);
    });
  }

  async settleIntents(...[settle]: Parameters<PullRecords['settleIntents']>): Promise<void> {
    if ((await this.abandonedIntents()).length === 0) return;
    await this.#alone(async () => {
      const images = await this.abandonedIntents();
      const settled = images.length === 0 ? [] : await settle(images);
      for (const image of settled) await this.#removeIntent(image);
    });
  }

  /** The images of the intents that no living process has. */
  async abandonedIntents(): Promise<readonly string[]> {
    const abandoned: string[] = [];
    for (const image of await this.listIntents()) if (!(await this.#isPulling(image))) abandoned.push(image);
    return abandoned;
  }

  /** The images of all intents. */
  async listIntents(): Promise<readonly string[]> {
    const files = (await namesIn(this.#pulling)).filter((name) => FILE_NAME.test(name));
    const objects = await Promise.all(
      // One that is broken or was removed meanwhile must not hide the others.
      files.map((name) => readObject(join(this.#pulling, name), 'ImagePullIntent').catch(() => undefined)),
    );
    return objects.map((object) => object?.['image']).filter((image) => typeof image === 'string');
  }

  async readPulled(imageRef: string): Promise<PulledRecord | undefined> {
    const object = await readObject(join(this.#pulled, fileName(imageRef)), 'ImagePulledRecord');
    if (object?.['imageRef'] !== imageRef) return undefined;
    // The kubelet leaves an empty mapping out.
    const {lastUpdatedTime = '', credentialMapping = {}} = object as Partial<PulledRecord>;
    return {lastUpdatedTime, imageRef, credentialMapping};
  }

  /**
   * The images that were pulled, as the runtime names them. Undefined when other runtimes than this one may have pulled
   * some: an image may be on two, and somebody else's on one of them.
   */
  async pulledRefs(): Promise<ReadonlySet<string> | undefined> {
    const endpoint = this.#endpoint;
    if (endpoint === undefined) return undefined;
    const runtimes = await namesIn(this.#runtimes);
    if (runtimes.some((name) => name !== fileName(endpoint))) return undefined;
    if (runtimes.length === 0) return new Set();
    return new Set((await this.#listPulled()).map(({imageRef}) => imageRef));
  }

  /** Removes the records of before that (ms since the epoch) of images that aren't known any more (PruneUnknownRecords). */
  async prunePulled(isKnown: (imageRef: string) => boolean, before: number): Promise<void> {
    if ((await this.pulledRefs()) === undefined) return;
    for (const {imageRef} of (await this.#listPulled()).filter((record) => !isKnown(record.imageRef)))
      await this.#withPulled(async () => {
        const record = await this.readPulled(imageRef).catch(() => undefined);
        if (record === undefined || !(Date.parse(record.lastUpdatedTime) < before)) return;
        const path = join(this.#pulled, fileName(imageRef));
        await withFileErrors('removing', path, () => ifPresent(() => unlink(path)));
      });
  }

  async #listPulled(): Promise<readonly {readonly imageRef: string}[]> {
    const files = (await namesIn(this.#pulled)).filter((name) => FILE_NAME.test(name));
    const objects = await Promise.all(
      files.map((name) => readObject(join(this.#pulled, name), 'ImagePulledRecord').catch(() => undefined)),
    );
    return objects.flatMap((object) => {
      const imageRef = object?.['imageRef'];
      return typeof imageRef === 'string' ? [{imageRef}] : [];
    });
  }

  async updatePulled(...[imageRef, change]: Parameters<PullRecords['updatePulled']>): Promise<void> {
    await this.#withPulled(async () => {
      const changed = change(await this.readPulled(imageRef).catch(() => undefined));
      if (changed !== undefined) await this.#writePulled(changed);
    });
  }

  /** While nobody else changes a record of what was pulled. */
  async #withPulled(act: () => Promise<void>): Promise<void> {
    // No pod's lock has such a name: namespaces and UIDs don't begin with an underscore.
    const lock = await acquireLock(join(this.#rootDir, 'locks', '__pulled-images.lock'));
    try {
      await act();
    } finally {
      await lock[Symbol.asyncDispose]();
    }
  }

  /** Whether any process pulls the image. */
  async #isPulling(image: string): Promise<boolean> {
    for (const path of await this.#pullersOf(image)) if (await isLockHeld(path)) return true;
    return false;
  }

  async #pullersOf(image: string): Promise<readonly string[]> {
    const prefix = `${fileName(image)}.`;
    return (await namesIn(this.#pullers))
      .filter((name) => name.startsWith(prefix))
      .map((name) => join(this.#pullers, name));
  }

  /** With the locks that killed processes left of it: each name is used once, so that nobody takes one again. */
  async #removeIntent(image: string): Promise<void> {
    for (const path of [join(this.#pulling, fileName(image)), ...(await this.#pullersOf(image))])
      await withFileErrors('removing', path, () => ifPresent(() => unlink(path)));
  }

  /** While nobody else begins a pull or removes an intent. */
  async #alone<T>(act: () => Promise<T>): Promise<T> {
    const manager = join(this.#rootDir, 'image_manager');
    await makeDirectories([manager, this.#pullers].map((path) => ({path, mode: 0o700})));
    const lock = await acquireLock(join(manager, 'pullers.lock'));
    try {
      return await act();
    } finally {
      await lock[Symbol.asyncDispose]();
    }
  }

  async #writePulled({lastUpdatedTime, imageRef, credentialMapping}: PulledRecord): Promise<void> {
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
    const manager = join(this.#rootDir, 'image_manager');
    await makeDirectories([
      {path: manager, mode: 0o700},
      {path: directory, mode: 0o700},
    ]);
    await writeFileAtomic(join(directory, fileName(name)), `${JSON.stringify(object)}\n`, 0o600);
  }
}

async function namesIn(directory: string): Promise<readonly string[]> {
  return (await withFileErrors('reading', directory, () => ifPresent(() => readdir(directory)))) ?? [];
}

/** A hash, because images' names have characters that files' may not. */
function fileName(name: string): string {
  return `sha256-${createHash('sha256').update(name).digest('hex')}`;
}

/** Undefined when there is no such file. */
async function readObject(
  path: string,
  kind: string,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const text = await withFileErrors('reading', path, () => ifPresent(() => readFile(path, 'utf8')));
  if (text === undefined) return undefined;
  const object = parseJson(text);
  if (object['kind'] === kind && READABLE_VERSIONS.has(object['apiVersion'])) return object;
  throw new SystemError(`reading ${JSON.stringify(path)}: no ${kind} of ${API_VERSION}`);
}

function parseJson(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}
